import { join } from 'node:path'
import type { Executor, Observation, RunSpec } from '../executor.ts'

/** true: the server runs from source, in a clone; false: from JavaScript, in the package. */
const isSource = import.meta.filename.endsWith('.ts')
const host = join(import.meta.dirname, '..', '..', 'handler', isSource ? 'host.ts' : 'host.js')
/** Python runs the file `__main__.py` of this folder, and finds the package `berth` in it. */
const pythonHost = join(import.meta.dirname, isSource ? '../../..' : '../../../..', 'clients/python/src')
/** In a clone `@berth-jobs/berth/handler` must resolve to source as well (`exports` of package.json). */
const nodeOptions = ['--no-warnings', ...(isSource ? ['--conditions=berth-source'] : [])]

/** Exit code of the host if onResume threw. */
const resumeFailedCode = 119

/**
 * Runs a handler through its host program (src/handler/host.ts), which the executor of local processes starts as a
 * command.
 */
export const createHandlerExecutor = (
  processes: Executor & Required<Pick<Executor, 'outputs' | 'forget' | 'list' | 'sample' | 'exec' | 'connect'>>,
): Executor => ({
  name: 'handler',
  start: (run, unwanted, tell) => processes.start(toCommandRun(run), unwanted, tell),
  find: (runId) => processes.find(runId),
  inspect: async (handles) => (await processes.inspect(handles)).map(addCause),
  logs: (handle, from, signal) => processes.logs(handle, from, signal),
  stop: (handle, graceMs) => processes.stop(handle, graceMs),
  outputs: (handle, pick, signal) => processes.outputs(handle, pick, signal),
  forget: (handle) => processes.forget(handle),
  list: () => processes.list(),
  sample: (runs) => processes.sample(runs),
  exec: (handle, order) => processes.exec(handle, order),
  connect: (handle, port) => processes.connect(handle, port),
  describe: () => processes.describe(),
  close: () => processes.close(),
})

function toCommandRun(run: RunSpec): RunSpec {
  const module = run.spec.handler ?? ''
  // The interpreter in the PATH of the job, such as that of a virtual environment.
  const command = module.endsWith('.py')
    ? ['python3', pythonHost, module]
    : [process.execPath, ...nodeOptions, host, module]
  return { ...run, spec: { ...run.spec, command } }
}

const addCause = (seen: Observation): Observation =>
  seen.state === 'ended' && seen.exitCode === resumeFailedCode && seen.cause === undefined
    ? { ...seen, cause: 'RESUME_FAILED' }
    : seen
