import type { RunSpec } from '../executor.ts'
import { type Handle, StartFailed } from '../executor.ts'

/** A handle is the name of a run's Secret and headless Service; its pods add the number of the replica. */

export const podLabels = {
  managedBy: 'app.kubernetes.io/managed-by',
  owner: 'berth/owner',
  handle: 'berth/handle',
  run: 'berth/run',
  job: 'berth/job',
  name: 'berth/name',
  replica: 'berth/replica',
  replicas: 'berth/replicas',
  dns: 'berth/dns',
} as const

export const annotations = {
  /** On a pod: database time of its request. The run did not begin before this time. */
  asked: 'berth/asked',
  /** On a pod: the grace period of the requested stop, in ms. */
  stop: 'berth/stop',
  /** On a pod: the stop is for the whole run, not only for the peers of a pod that failed or is lost. */
  stopRun: 'berth/stop-run',
  /** On a pod: database time after which a running pod is deleted. */
  stopBy: 'berth/stop-by',
  /**
   * On each pod of a run with several: the address of the first pod. It is set when all pods run, and lets the commands
   * begin.
   */
  begin: 'berth/begin',
  /** On each pod of a run with several: why the run was given up before its commands began. */
  givenUp: 'berth/given-up',
  /**
   * On each pod of a run with several: `activeDeadlineSeconds`, set when the commands begin and counted from then on.
   */
  deadline: 'berth/deadline',
  /** On a Secret: the run was stopped before its command began. */
  withdrawn: 'berth/withdrawn',
  /** On a Secret: all pods of the run were created, so a missing pod was lost and must not be created again. */
  made: 'berth/made',
} as const

export const manager = 'berth'

const handlesInSelector = 20

/** Selects the objects of these runs. For many runs it selects all objects of Berth in the namespace. */
export const selectRuns = (handles: readonly Handle[]): string =>
  handles.length <= handlesInSelector
    ? `${podLabels.handle} in (${handles.join(',')})`
    : `${podLabels.managedBy}=${manager},${podLabels.handle}`

const handlePattern = /^berth-[a-z0-9-]{1,56}$/

/** Checks handles before they become paths of requests. */
export const isPodHandle = (handle: Handle) => handlePattern.test(handle)

export function makeHandle(runId: string): Handle {
  const handle = `berth-${runId.toLowerCase().replaceAll('_', '-')}`
  if (!isPodHandle(handle)) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${runId}`)
  return handle
}

export const makePodName = (handle: Handle, replica: number) => `${handle}-${replica}`

export function parsePodName(name: string): { handle: Handle; replica: number } | null {
  const [, handle = '', replica] = name.match(/^(.+)-(\d{1,9})$/) ?? []
  return isPodHandle(handle) ? { handle, replica: Number(replica) } : null
}

export function makeLabels({ runId, jobId, spec }: RunSpec, owner: string): Record<string, string> {
  const name = labelValue(spec.name ?? '')
  return {
    [podLabels.managedBy]: manager,
    [podLabels.owner]: owner,
    [podLabels.handle]: makeHandle(runId),
    [podLabels.run]: runId,
    [podLabels.job]: jobId,
    ...(name !== '' && { [podLabels.name]: name }),
  }
}

const labelLengthMax = 63

/** Replaces characters that a label cannot have by `-`. */
const labelValue = (text: string) =>
  text
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, labelLengthMax)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
