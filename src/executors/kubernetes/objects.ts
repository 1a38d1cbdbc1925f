export interface Metadata {
  name: string
  uid: string
  resourceVersion: string
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  deletionTimestamp?: string
  /** For each writer of the object, the time of its last change. */
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
  /** `repository@sha256:…` of a pulled image; empty until the container begins. */
  imageID?: string
  /** The startup probe succeeded, and the container runs. */
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
  resources?: Resources
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
    /** If set, replaces the sum of the containers' resources. */
    resources?: Resources
    overhead?: Readonly<Record<string, string>>
    terminationGracePeriodSeconds?: number
  }
  status: {
    phase?: string
    reason?: string
    message?: string
    podIP?: string
    startTime?: string
    conditions?: readonly Condition[]
    containerStatuses?: readonly ContainerStatus[]
    initContainerStatuses?: readonly ContainerStatus[]
  }
}

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

export interface Notice {
  involvedObject: { uid?: string }
  reason?: string
  message?: string
  lastTimestamp?: string | null
  eventTime?: string | null
}
