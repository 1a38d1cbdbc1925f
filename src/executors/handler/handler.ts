import { join } from 'node:path'
import type { Executor, Observation, RunSpec } from '../executor.ts'

/** The host in this installation: source in a clone, JavaScript in the package. */
const isSource = import.meta.filename.endsWith('.ts')
const host = join(import.meta.dirname, '..', '..', 'handler', isSource ? 'host.ts' : 'host.js')
/** In a clone `@berth-jobs/berth/handler` is source as well (`exports` of package.json). */
const nodeOptions = ['--no-warnings', ...(isSource ? ['--conditions=berth-source'] : [])]

/** The exit code of the host when onResume threw. */
const resumeFailedCode = 119

/** Runs a handler as the command of its host (src/handler/host.ts), by the executor of processes. */
export const createHandlerExecutor = (processes: Executor & Required<Pick<Executor, 'forget' | 'list'>>): Executor => ({
  name: 'handler',
  start: (run, unwanted, tell) => processes.start(toCommandRun(run), unwanted, tell),
  find: (runId) => processes.find(runId),
  inspect: async (handles) => (await processes.inspect(handles)).map(addCause),
  logs: (handle, from, signal) => processes.logs(handle, from, signal),
  stop: (handle, graceMs) => processes.stop(handle, graceMs),
  forget: (handle) => processes.forget(handle),
  list: () => processes.list(),
  describe: () => processes.describe(),
  close: () => processes.close(),
})

const toCommandRun = (run: RunSpec): RunSpec => ({
  ...run,
  spec: { ...run.spec, command: [process.execPath, ...nodeOptions, host, run.spec.handler ?? ''] },
})

const addCause = (seen: Observation): Observation =>
  seen.state === 'ended' && seen.exitCode === resumeFailedCode && seen.cause === undefined
    ? { ...seen, cause: 'RESUME_FAILED' }
    : seen
