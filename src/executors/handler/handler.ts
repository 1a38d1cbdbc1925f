import { join } from 'node:path'
import type { Handle, Observation, RunSpec } from '../executor.ts'
import { createLocalExecutor, LocalExecutor, type LocalOptions } from '../local/local.ts'

/** true: the server runs from source, in a clone; false: from JavaScript, in the package. */
const isSource = import.meta.filename.endsWith('.ts')
const host = join(import.meta.dirname, '..', '..', 'handler', isSource ? 'host.ts' : 'host.js')
/** Python runs the file `__main__.py` of this folder, and finds the package `berth` in it. */
const pythonHost = join(import.meta.dirname, isSource ? '../../..' : '../../../..', 'clients/python/src')
/** In a clone `@berth-jobs/berth/handler` must resolve to source as well (`exports` of package.json). */
const nodeOptions = ['--no-warnings', ...(isSource ? ['--conditions=berth-source'] : [])]

/** Exit code of the host if onResume threw. */
const resumeFailedCode = 119

/** Runs a handler through its host program (src/handler/host.ts), as a command of the executor of local processes. */
class HandlerExecutor extends LocalExecutor {
  override readonly name = 'handler'

  override start(run: RunSpec, ...rest: [unwanted?: AbortSignal, tell?: (info: string) => void]): Promise<Handle> {
    return super.start(toCommandRun(run), ...rest)
  }

  override async inspect(handles: readonly Handle[]): Promise<Observation[]> {
    return (await super.inspect(handles)).map(addCause)
  }
}

export const createHandlerExecutor = (options: LocalOptions): Promise<LocalExecutor> =>
  createLocalExecutor(options, HandlerExecutor)

function toCommandRun(run: RunSpec): RunSpec {
  const module = run.spec.handler ?? ''
  // The interpreter in the job's PATH, such as that of a virtual environment.
  const command = module.endsWith('.py')
    ? ['python3', pythonHost, module]
    : [process.execPath, ...nodeOptions, host, module]
  return { ...run, spec: { ...run.spec, command } }
}

const addCause = (seen: Observation): Observation =>
  seen.state === 'ended' && seen.exitCode === resumeFailedCode && seen.cause === undefined
    ? { ...seen, cause: 'RESUME_FAILED' }
    : seen
