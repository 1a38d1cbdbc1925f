import type { RunSpec } from '../executor.ts'
import { type Handle, StartFailed } from '../executor.ts'

/**
 * Names and labels. A handle is the name that all objects of a run share: its Secret and its headless Service have that
 * name, its pods the name and the number of the replica.
 */

export const podLabels = {
  managedBy: 'app.kubernetes.io/managed-by',
  owner: 'berth/owner',
  handle: 'berth/handle',
  run: 'berth/run',
  job: 'berth/job',
  name: 'berth/name',
  replica: 'berth/replica',
  /** How many pods the run has. */
  replicas: 'berth/replicas',
  /** The internal name by which Services find a pod. */
  dns: 'berth/dns',
} as const

export const annotations = {
  /** On a pod: database time when it was asked for; its run did not begin before. */
  asked: 'berth/asked',
  /** On a pod: the grace of the requested stop, in ms. */
  stop: 'berth/stop',
  /** On a pod: the stop is that of the whole run, and not of the peers of a pod that failed or is lost. */
  stopRun: 'berth/stop-run',
  /** On a pod: database time after which it is deleted if it still runs. */
  stopBy: 'berth/stop-by',
  /** On each pod of a run with several: the address of the first one. Set when all of them run: the commands may begin. */
  begin: 'berth/begin',
  /** On each pod of a run with several: why the run was given up before its commands began. */
  givenUp: 'berth/given-up',
  /** On each pod of a run with several: its `activeDeadlineSeconds`, set when the commands begin and counted from there. */
  deadline: 'berth/deadline',
  /** On a Secret: the run was stopped before its command began. */
  withdrawn: 'berth/withdrawn',
  /** On a Secret: all pods of the run were made, so one that is missing is lost and not made again. */
  made: 'berth/made',
} as const

export const manager = 'berth'

const handlesInSelector = 20

/** Objects of these runs; of many runs, all objects of Berth in the namespace. */
export const selectorOf = (handles: readonly Handle[]): string =>
  handles.length <= handlesInSelector
    ? `${podLabels.handle} in (${handles.join(',')})`
    : `${podLabels.managedBy}=${manager},${podLabels.handle}`

const handlePattern = /^berth-[a-z0-9-]{1,56}$/

/** Only valid handles become paths of requests. */
export const isPodHandle = (handle: Handle) => handlePattern.test(handle)

const nameOf = (runId: string) => `berth-${runId.toLowerCase().replaceAll('_', '-')}`

/** Whether an object with this name can be of the run. */
export const isNamedAfter = (name: string, runId: string) => nameOf(runId) === name

export function handleOf(runId: string): Handle {
  const handle = nameOf(runId)
  if (!isPodHandle(handle)) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${runId}`)
  return handle
}

export const podNameOf = (handle: Handle, replica: number) => `${handle}-${replica}`

/** null: it is not the name of a pod of a run. */
export function replicaOfName(name: string): { handle: Handle; replica: number } | null {
  const [, handle = '', replica] = name.match(/^(.+)-(\d{1,9})$/) ?? []
  return isPodHandle(handle) ? { handle, replica: Number(replica) } : null
}

export function labelsOf({ runId, jobId, spec }: RunSpec, owner: string): Record<string, string> {
  const name = labelValue(spec.name ?? '')
  return {
    [podLabels.managedBy]: manager,
    [podLabels.owner]: owner,
    [podLabels.handle]: handleOf(runId),
    [podLabels.run]: runId,
    [podLabels.job]: jobId,
    ...(name !== '' && { [podLabels.name]: name }),
  }
}

const labelLengthMax = 63

/** The text with the characters that a label cannot have replaced by `-`. */
const labelValue = (text: string) =>
  text
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, labelLengthMax)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
