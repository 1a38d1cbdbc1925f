import type { JobSpec } from '../../src/domain/spec.ts'
import { normaliseSpec } from '../../src/domain/submission/normalise.ts'
import type { Route } from '../../src/domain/submission/routing.ts'
import type { Executor, Handle, LogPosition, Observation, RunSpec } from '../../src/executors/executor.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'

/** Options of every executor, with the clock of this machine. */
export const machineParts = { clock: systemClock, time: machineTime, log: createLog('warn') }

/** Returns a run whose spec has defaults. */
export function makeRun(spec: Partial<JobSpec>, run: Partial<RunSpec> = {}): RunSpec {
  runs += 1
  const runId = `run_${process.pid}x${runs}`
  const base = {
    runId,
    jobId: `job_${runs}`,
    number: 1,
    nodes: ['n1'],
    gpuIds: [],
    closure: null,
    openSnapshot: null,
    injected: {},
    unixUser: null,
    queueNative: {},
    reservationNativeId: null,
    inherited: false,
    graceMs: 30_000,
  }
  return { ...base, spec: { ...plainSpec, ...spec }, ...run }
}

let runs = 0

const way: Route = { queue: 'default', pool: 'p', policy: 'PRIORITY', executor: 'local' }
const plainSpec: JobSpec = {
  ...normaliseSpec({}, { route: way, account: 'users.test', destination: undefined }).spec,
  maxRunTimeSeconds: 0,
}

export const makeResources = (resources: Partial<JobSpec['resources']>) => ({ ...plainSpec.resources, ...resources })

export async function observe(executor: Executor, handle: Handle): Promise<Observation> {
  const [observation] = await executor.inspect([handle])
  if (!observation) throw new Error('inspect returned nothing')
  return observation
}

/** A busy kubelet may take a minute to confirm the deletion of a pod that never began. */
export const confirmedMsMax = 90_000

export const untilState = (
  executor: Executor,
  handle: Handle,
  state: Observation['state'],
  timeoutMs = confirmedMsMax,
) =>
  until(
    async () => {
      const observation = await observe(executor, handle)
      return observation.state === state && observation
    },
    { what: `the run is ${state}`, timeoutMs },
  )

export async function untilEnded(executor: Executor, handle: Handle, timeoutMs?: number) {
  const observation = await untilState(executor, handle, 'ended', timeoutMs)
  if (observation.state !== 'ended') throw new Error('unreachable')
  return observation
}

export interface Output {
  out: string
  err: string
  next: LogPosition
  chunks: number
}

/** Reads until the run has ended, or `enough` returns true. */
export async function read(
  executor: Executor,
  handle: Handle,
  { from = null, enough = () => false }: { from?: LogPosition; enough?: (output: Output) => boolean } = {},
): Promise<Output> {
  const output: Output = { out: '', err: '', next: from, chunks: 0 }
  const abort = new AbortController()
  for await (const chunk of executor.logs(handle, from, abort.signal)) {
    if ('gap' in chunk) throw new Error(`A gap: ${JSON.stringify(chunk)}`)
    const text = Buffer.from(chunk.bytes).toString('latin1')
    if (chunk.stream === 'STDOUT') output.out += text
    else output.err += text
    output.next = JSON.parse(JSON.stringify(chunk.next))
    output.chunks += 1
    if (enough(output)) abort.abort()
  }
  return output
}

/** Starts the run and reads its output until it has ended. */
export async function finishRun(executor: Executor, run: RunSpec) {
  const handle = await executor.start(run)
  const output = await read(executor, handle)
  return { handle, ...output, ...(await untilEnded(executor, handle)) }
}

/** Removes all runs of the executor, and closes it. */
export async function clearExecutor(executor: Executor): Promise<void> {
  for (const { handle } of (await executor.list?.()) ?? []) await executor.forget?.(handle)
  await executor.close()
}
