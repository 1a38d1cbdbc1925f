import { join } from 'node:path'
import type { Executor, Observation, RunSpec } from '../executor.ts'

/**
 * Handlers: modules that run as processes of this machine, each under a host (src/handler/host.ts) that speaks to the
 * server over the API. `processes` runs them and is all the rest: a run of a handler is a run of the command that
 * starts its host, so it outlives the server, and is stopped, found and read like any process.
 */

/** The host in this installation: source in a clone, JavaScript in the package. */
const isSource = import.meta.filename.endsWith('.ts')
const host = join(import.meta.dirname, '..', '..', 'handler', isSource ? 'host.ts' : 'host.js')
/** In a clone `@berth-jobs/berth/handler` is its source as well (`exports` of package.json). */
const nodeOptions = ['--no-warnings', ...(isSource ? ['--conditions=berth-source'] : [])]

/** Of the host, when onResume threw. */
const resumeFailedCode = 119

export const createHandlerExecutor = (processes: Executor): Executor => ({
  ...processes,
  name: 'handler',
  start: (run) => processes.start(asCommand(run)),
  inspect: async (handles) => (await processes.inspect(handles)).map(withCause),
})

const asCommand = (run: RunSpec): RunSpec => ({
  ...run,
  spec: { ...run.spec, command: [process.execPath, ...nodeOptions, host, run.spec.handler ?? ''] },
})

const withCause = (seen: Observation): Observation =>
  seen.state === 'ended' && seen.exitCode === resumeFailedCode && seen.cause === undefined
    ? { ...seen, cause: 'RESUME_FAILED' }
    : seen
