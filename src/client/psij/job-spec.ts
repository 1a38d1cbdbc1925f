import type { TimeInterval } from './time-interval.ts'

/** The command and settings of a job. The server sets defaults for missing properties. */
export interface JobSpecFields {
  name?: string | undefined
  executable?: string | undefined
  arguments?: string[] | undefined
  /** Absolute, or beginning with `~/`. */
  directory?: string | undefined
  inheritEnvironment?: boolean
  environment?: Record<string, string> | undefined
  stdinPath?: string | undefined
  stdoutPath?: string | undefined
  stderrPath?: string | undefined
  preLaunch?: string | undefined
  postLaunch?: string | undefined
  /** single, multiple, mpirun, and what the executor has. */
  launcher?: string | undefined
  resources?: ResourceSpecV1 | undefined
  attributes?: JobAttributes
}

export class JobSpec implements JobSpecFields {
  name?: string | undefined
  executable?: string | undefined
  arguments?: string[] | undefined
  directory?: string | undefined
  inheritEnvironment = true
  environment?: Record<string, string> | undefined
  stdinPath?: string | undefined
  stdoutPath?: string | undefined
  stderrPath?: string | undefined
  preLaunch?: string | undefined
  postLaunch?: string | undefined
  launcher?: string | undefined
  resources?: ResourceSpecV1 | undefined
  attributes = new JobAttributes()

  constructor(fields: JobSpecFields = {}) {
    Object.assign(this, fields)
  }
}

export interface ResourceFields {
  nodeCount?: number | undefined
  exclusiveNodeUse?: boolean | undefined
  processCount?: number | undefined
  processesPerNode?: number | undefined
  cpuCoresPerProcess?: number | undefined
  gpuCoresPerProcess?: number | undefined
}

export const resourceDefaults = {
  nodeCount: 1,
  exclusiveNodeUse: false,
  processCount: 1,
  processesPerNode: 1,
  cpuCoresPerProcess: 1,
  gpuCoresPerProcess: 0,
} as const satisfies ResourceFields

/**
 * Equal processes on equal nodes. A property that is not given reads as its default; only what is given is sent, because
 * `nodeCount` and `processCount` exclude each other.
 */
export class ResourceSpecV1 {
  readonly version = 1
  readonly given: ResourceFields

  constructor(fields: ResourceFields = {}) {
    this.given = { ...fields }
  }

  get nodeCount(): number {
    return this.given.nodeCount ?? resourceDefaults.nodeCount
  }
  set nodeCount(count: number | undefined) {
    this.given.nodeCount = count
  }

  get exclusiveNodeUse(): boolean {
    return this.given.exclusiveNodeUse ?? resourceDefaults.exclusiveNodeUse
  }
  set exclusiveNodeUse(isExclusive: boolean | undefined) {
    this.given.exclusiveNodeUse = isExclusive
  }

  get processCount(): number {
    return this.given.processCount ?? resourceDefaults.processCount
  }
  set processCount(count: number | undefined) {
    this.given.processCount = count
  }

  get processesPerNode(): number {
    return this.given.processesPerNode ?? resourceDefaults.processesPerNode
  }
  set processesPerNode(count: number | undefined) {
    this.given.processesPerNode = count
  }

  get cpuCoresPerProcess(): number {
    return this.given.cpuCoresPerProcess ?? resourceDefaults.cpuCoresPerProcess
  }
  set cpuCoresPerProcess(count: number | undefined) {
    this.given.cpuCoresPerProcess = count
  }

  get gpuCoresPerProcess(): number {
    return this.given.gpuCoresPerProcess ?? resourceDefaults.gpuCoresPerProcess
  }
  set gpuCoresPerProcess(count: number | undefined) {
    this.given.gpuCoresPerProcess = count
  }
}

export interface AttributeFields {
  /** Default: 10 minutes. */
  duration?: TimeInterval | undefined
  queueName?: string | undefined
  projectName?: string | undefined
  reservationId?: string | undefined
  customAttributes?: Record<string, unknown> | undefined
}

/** How a job is to be run, beside its resources. */
export class JobAttributes implements AttributeFields {
  duration?: TimeInterval | undefined
  queueName?: string | undefined
  projectName?: string | undefined
  reservationId?: string | undefined
  customAttributes?: Record<string, unknown> | undefined

  constructor(fields: AttributeFields = {}) {
    Object.assign(this, fields)
  }

  getCustomAttribute(name: string): unknown {
    return this.customAttributes?.[name]
  }

  setCustomAttribute(name: string, value: unknown): void {
    this.customAttributes = { ...this.customAttributes, [name]: value }
  }
}
