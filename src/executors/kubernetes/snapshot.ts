import { snapshotFolder } from '../backend/snapshot-folder.ts'
import type { RunSpec } from '../executor.ts'
import { readScript } from '../process/scripts.ts'
import type { ContainerStatus, Pod } from './objects.ts'

/**
 * Two init containers bring the files of a snapshot into a pod: one fetches them from the server with the token of the
 * run, one unpacks them with the image, and so as the user, of the job. The files are deleted with the pod.
 */

/** Key of the Secret with the configuration of curl, so that no command line contains the token. */
export const fetchKey = 'fetch'

const fetchScript = readScript(import.meta.dirname, 'fetch.sh')
const unpackScript = readScript(import.meta.dirname, 'unpack.sh')
const volume = { name: 'snapshot', emptyDir: {} }
const volumeMount = { name: volume.name, mountPath: '/berth/snapshot' }
const fetchMount = { name: 'run', mountPath: '/berth/fetch', subPath: fetchKey, readOnly: true }
const steps: Readonly<Record<string, string>> = { fetch: 'fetched', unpack: 'unpacked' }

export const snapshotVolume = {
  volume,
  mount: { name: volume.name, mountPath: snapshotFolder, subPath: 'files' },
}

export function makeFetchConfiguration({ jobId, injected }: RunSpec): string {
  const { BERTH_URL: url = '', BERTH_TOKEN: token = '' } = injected
  const address = `${url.replace(/\/$/, '')}/download/jobs/${jobId}/snapshot`
  return `url = ${JSON.stringify(address)}\nheader = ${JSON.stringify(`Authorization: Bearer ${token}`)}\n`
}

interface Surroundings {
  /** Image with a shell and curl. */
  snapshotImage: string
  /** Fields of the job's container. */
  job: { image: string; imagePullPolicy?: string; resources: unknown }
}

/** Sets `resources`, because a quota may require them of each container. A pod needs their maximum, not their sum. */
export function makeSnapshotContainers({ snapshotImage, job }: Surroundings): unknown[] {
  const shared = { resources: job.resources, securityContext: { allowPrivilegeEscalation: false } }
  const run = (script: string) => ['/bin/sh', '-c', script]
  return [
    {
      ...shared,
      name: 'fetch',
      image: snapshotImage,
      command: run(fetchScript),
      volumeMounts: [volumeMount, fetchMount],
    },
    { ...job, ...shared, name: 'unpack', command: run(unpackScript), volumeMounts: [volumeMount] },
  ]
}

const findStep = (pod: Pod, is: (state: NonNullable<ContainerStatus['state']>) => boolean) =>
  pod.status.initContainerStatuses?.find(({ name, state }) => steps[name] !== undefined && state && is(state))

/** Returns null if the snapshot did not fail. */
export function explainSnapshotFailure(pod: Pod): string | null {
  const failed = findStep(pod, ({ terminated }) => (terminated?.exitCode ?? 0) !== 0)
  const { reason, message, exitCode } = failed?.state?.terminated ?? {}
  if (!failed) return null
  return `The snapshot cannot be ${steps[failed.name]}: ${message?.trim() || `${reason} (exit code ${exitCode})`}`
}

/** Returns undefined if the pod does not wait for its snapshot. */
export function getSnapshotWait(pod: Pod): { reason?: string; message?: string } | undefined {
  const { name, state } = findStep(pod, ({ running, waiting }) => Boolean(running ?? waiting)) ?? {}
  if (name === undefined || state?.waiting?.reason === 'PodInitializing') return undefined
  return state?.waiting ?? { reason: 'Snapshot', message: `being ${steps[name]}` }
}
