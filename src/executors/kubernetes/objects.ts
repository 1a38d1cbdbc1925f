/** Objects of the API, as far as Berth reads them. */

export interface Metadata {
  name: string
  uid: string
  resourceVersion: string
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  deletionTimestamp?: string
  /** When each of its writers changed it last. */
  managedFields?: readonly { time?: string }[]
}

export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastTransitionTime?: string | null
}

export interface ContainerStatus {
  name: string
  /** Its startup probe has succeeded, and it runs. */
  started?: boolean
  state?: {
    waiting?: { reason?: string; message?: string }
    running?: { startedAt: string }
    terminated?: {
      exitCode: number
      reason?: string
      message?: string
      startedAt?: string | null
      finishedAt?: string | null
    }
  }
}

export interface Container {
  name?: string
  command?: readonly string[]
  resources?: Resources
  /** Of an init container: it runs beside those of the pod. */
  restartPolicy?: 'Always'
}

interface Resources {
  requests?: Readonly<Record<string, string>>
}

export interface Pod {
  metadata: Metadata
  spec: {
    nodeName?: string
    containers: readonly Container[]
    initContainers?: readonly Container[]
    /** Of the whole pod, in place of the sum of its containers. */
    resources?: Resources
    /** What the runtime needs besides. */
    overhead?: Readonly<Record<string, string>>
    terminationGracePeriodSeconds?: number
    volumes?: readonly { secret?: { secretName?: string } }[]
  }
  status: {
    phase?: string
    reason?: string
    message?: string
    podIP?: string
    startTime?: string
    conditions?: readonly Condition[]
    containerStatuses?: readonly ContainerStatus[]
  }
}

/** Only its metadata is read: the data of a Secret are of no interest. */
export interface Secret {
  metadata: Metadata
}

export interface Node {
  metadata: Metadata
  spec: { unschedulable?: boolean; taints?: readonly Taint[] }
  status: { allocatable?: Readonly<Record<string, string>>; conditions?: readonly Condition[] }
}

export interface Taint {
  key: string
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

/** A notice of the cluster about an object. */
export interface Notice {
  involvedObject: { uid?: string }
  reason?: string
  message?: string
  lastTimestamp?: string | null
  eventTime?: string | null
}
