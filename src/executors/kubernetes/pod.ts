import { toShape } from '../../domain/shape.ts'
import type { Mount } from '../backend/data-mounts.ts'
import { snapshotFolder } from '../backend/snapshot-folder.ts'
import type { RunSpec } from '../executor.ts'
import { displayPipe, xSocketFolder } from '../process/display.ts'
import { childFunctions, readScript } from '../process/scripts.ts'
import { displayVolume, makeDisplayContainer } from './display.ts'
import { annotations, makeHandle, makeLabels, makePodName, podLabels } from './names.ts'
import type { Node, Secret } from './objects.ts'
import { gpuResource, makeNodeAffinity, makePodAntiAffinity } from './placement.ts'
import { makeSnapshotContainers, snapshotVolume } from './snapshot.ts'

/** Makes one pod of a run: one replica, or one node of a job with `nodeCount`. */

interface PodParts {
  /** The label on all objects of this installation and pool. */
  owner: string
  image: string
  x11Image?: string | undefined
  snapshotImage?: string | undefined
  imagePullSecrets?: readonly string[]
  run: RunSpec
  secret: Secret
  mounts: readonly Mount[]
  nodes: readonly Node[]
  nowMs: number
}

export const jobContainer = 'job'
export const commandKey = 'command'
export const closureKey = 'closure'
/** Directory of a pod that contains the files of its Secret. */
export const runDirectory = '/berth/run'

export const superviseScript = childFunctions + readScript(import.meta.dirname, 'supervise.sh')
const fallbackGraceSeconds = 30
/**
 * Time allowed for pulling an image, added to the pod's deadline. The deadline ends a job that killed its supervisor's
 * timer.
 */
const pullSecondsMax = 3_600
/** Time for which a pod waits for the other pods of its run, counted from its start. */
const togetherSecondsMax = 3 * pullSecondsMax
const infinibandDirectory = '/dev/infiniband'
const ordersDirectory = '/berth/orders'
/** Directories that are mounted in a pod besides the data of the job. */
const sharedMemory = '/dev/shm'
export const podFolders = [runDirectory, ordersDirectory, sharedMemory, xSocketFolder]

export function makePod(made: PodParts, replica: number): unknown {
  const { run, secret, image, imagePullSecrets = [] } = made
  const { spec } = run
  const handle = makeHandle(run.runId)
  const { maxRunTimeSeconds } = spec
  const deadline = Math.ceil(maxRunTimeSeconds) + pullSecondsMax
  const hasDeadline = maxRunTimeSeconds > 0
  const volumes = volumesOf(made)
  const { copies, gpu } = toShape(spec.resources)
  const pipe = spec.x11 ? displayPipe : ''
  const [limit, grace] = [Math.ceil(maxRunTimeSeconds * 100), Math.ceil(run.graceMs / 10)]
  const own = [limit, grace, replica, copies, togetherSecondsMax, pipe]
  const job = {
    image: spec.image ?? image,
    ...(spec.pull && { imagePullPolicy: spec.pull === 'ALWAYS' ? 'Always' : 'IfNotPresent' }),
  }
  const ofSnapshot = { snapshotImage: made.snapshotImage ?? job.image, job: { ...job, resources: resourcesOf(run, 0) } }
  const display = spec.x11 ? [makeDisplayContainer(spec.x11, made.x11Image)] : []
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: makePodName(handle, replica),
      labels: {
        ...makeLabels(run, made.owner),
        [podLabels.replica]: String(replica),
        [podLabels.replicas]: String(copies),
        ...(spec.internalDns !== null && { [podLabels.dns]: spec.internalDns.name }),
      },
      annotations: {
        [annotations.asked]: new Date(made.nowMs).toISOString(),
        ...(hasDeadline && copies > 1 && { [annotations.deadline]: String(deadline) }),
      },
      ownerReferences: [makeOwnerReference(secret)],
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: fallbackGraceSeconds,
      ...(hasDeadline && copies === 1 && { activeDeadlineSeconds: deadline }),
      ...(copies > 1 && { hostname: makePodName(handle, replica), subdomain: handle }),
      ...(run.queueNative['priorityClass'] && { priorityClassName: run.queueNative['priorityClass'] }),
      imagePullSecrets: imagePullSecrets.map((name) => ({ name })),
      ...placementOf(made),
      volumes: volumes.map(({ volume }) => volume),
      ...(run.openSnapshot && { initContainers: makeSnapshotContainers(ofSnapshot) }),
      containers: [
        {
          name: jobContainer,
          ...job,
          ...(run.openSnapshot && { workingDir: snapshotFolder }),
          command: ['/bin/sh', '-c', superviseScript, 'berth', ...own.map(String)],
          ...(gpu === 0 && { env: withoutGpus }),
          resources: resourcesOf(run, gpu),
          securityContext: {
            allowPrivilegeEscalation: false,
            ...(spec.resources.infiniband && { capabilities: { add: ['IPC_LOCK'] } }),
          },
          volumeMounts: volumes.map(({ mount }) => mount),
        },
        ...display,
      ],
    },
  }
}

/** Hides GPUs: if NVIDIA's runtime is the default, it gives all GPUs to images that request them, as CUDA images do. */
const withoutGpus = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }]

/** Deleting the Secret of a run deletes all of its objects. */
export const makeOwnerReference = ({ metadata: { name, uid } }: Secret) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name,
  uid,
})

function resourcesOf({ spec }: RunSpec, gpu: number) {
  const { cpuMillis, memoryBytes } = toShape(spec.resources)
  const amounts = {
    cpu: `${cpuMillis}m`,
    memory: String(memoryBytes),
    ...(gpu > 0 && { [gpuResource]: String(gpu) }),
  }
  return { requests: amounts, limits: amounts }
}

function placementOf({ run, nodes }: PodParts) {
  const shape = toShape(run.spec.resources)
  const nodeAffinity = makeNodeAffinity(shape, nodes)
  return {
    affinity: {
      ...(nodeAffinity !== null && { nodeAffinity }),
      ...makePodAntiAffinity(run),
    },
    ...(shape.gpu > 0 && { tolerations: [{ key: gpuResource, operator: 'Exists' }] }),
  }
}

interface Volume {
  volume: unknown
  mount: unknown
}

function volumesOf({ run, secret, mounts }: PodParts): Volume[] {
  const items = (['stop', 'begin'] as const).map((path) => ({
    path,
    fieldRef: { fieldPath: `metadata.annotations['${annotations[path]}']` },
  }))
  return [
    {
      volume: { name: 'run', secret: { secretName: secret.metadata.name } },
      mount: { name: 'run', mountPath: runDirectory, readOnly: true },
    },
    {
      volume: { name: 'orders', downwardAPI: { items } },
      mount: { name: 'orders', mountPath: ordersDirectory, readOnly: true },
    },
    // The default is 64 MiB. The files count as memory of the job.
    {
      volume: { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: String(run.spec.resources.memoryBytes) } },
      mount: { name: 'shm', mountPath: sharedMemory },
    },
    ...mounts.map(dataVolume),
    ...(run.openSnapshot ? [snapshotVolume] : []),
    ...(run.spec.resources.infiniband ? [deviceVolume] : []),
    ...(run.spec.x11 ? [displayVolume] : []),
  ]
}

/**
 * A volume for job data. The kubelet refuses a path that leads out of the root, so replacing a directory by a symbolic
 * link after the check has no effect.
 */
function dataVolume({ source, target, below }: Mount, index: number): Volume {
  const name = `data-${index}`
  return {
    volume: { name, hostPath: { path: below?.root ?? source, type: 'Directory' } },
    mount: { name, mountPath: target, ...(below !== null && below.way !== '' && { subPath: below.way }) },
  }
}

const deviceVolume: Volume = {
  volume: { name: 'infiniband', hostPath: { path: infinibandDirectory, type: 'Directory' } },
  mount: { name: 'infiniband', mountPath: infinibandDirectory },
}
