import { type Resource, useResource } from '../../ground/resource.ts'
import type { PageJob } from './use-job.ts'

interface RunReader<Value> {
  /** What is read, for the key of the cache. */
  name: string
  readAgainMs: number
  load: (runId: string, signal: AbortSignal) => Promise<Value>
}

/** Reads values of a run, and reads them again while the run is active. */
export function useRunValues<Value>(
  { job, run }: { job: PageJob; run: number },
  { name, readAgainMs, load }: RunReader<Value>,
): Resource<Value> & { isActive: boolean } {
  const runId = job.runs.nodes.find(({ number }) => number === run)?.id ?? job.currentRun.id
  const isActive = job.stateCategory === 'ACTIVE' && runId === job.currentRun.id
  const everyMs = isActive ? readAgainMs : undefined
  return { isActive, ...useResource(`run ${name} ${runId}`, (signal) => load(runId, signal), { everyMs }) }
}
