import type { TimeInterval } from './time-interval.ts'

export type JobSpecFields = Partial<JobSpec>

/** The command and settings of a job. The server sets defaults for missing properties. */
export class JobSpec {
  name?: string | undefined
  executable?: string | undefined
  arguments?: string[] | undefined
  /** The working directory: absolute, or beginning with `~/`. */
  directory?: string | undefined
  inheritEnvironment = true
  environment?: Record<string, string> | undefined
  stdinPath?: string | undefined
  stdoutPath?: string | undefined
  stderrPath?: string | undefined
  preLaunch?: string | undefined
  postLaunch?: string | undefined
  /** single, multiple, mpirun, or another launcher of the executor. */
  launcher?: string | undefined
  resources?: ResourceSpecV1 | undefined
  attributes = new JobAttributes()

  constructor(fields: JobSpecFields = {}) {
    Object.assign(this, fields)
  }
}

export const resourceDefaults = {
  nodeCount: 1,
  exclusiveNodeUse: false,
  processCount: 1,
  processesPerNode: 1,
  cpuCoresPerProcess: 1,
  gpuCoresPerProcess: 0,
}

export type ResourceFields = { [Name in keyof typeof resourceDefaults]?: (typeof resourceDefaults)[Name] | undefined }

/**
 * Equal processes on equal nodes. A property that is not given reads as its default, but is not sent, because `nodeCount`
 * and `processCount` exclude each other.
 */
export class ResourceSpecV1 {
  readonly version = 1
  readonly given: ResourceFields
  declare nodeCount: number
  declare exclusiveNodeUse: boolean
  declare processCount: number
  declare processesPerNode: number
  declare cpuCoresPerProcess: number
  declare gpuCoresPerProcess: number

  constructor(fields: ResourceFields = {}) {
    this.given = { ...fields }
  }
}

for (const [name, usual] of Object.entries(resourceDefaults))
  Object.defineProperty(ResourceSpecV1.prototype, name, {
    get(this: ResourceSpecV1) {
      return this.given[name as keyof ResourceFields] ?? usual
    },
    set(this: ResourceSpecV1, value: unknown) {
      Object.assign(this.given, { [name]: value })
    },
  })

export type AttributeFields = Omit<JobAttributes, 'getCustomAttribute' | 'setCustomAttribute'>

/** Settings of a job other than its resources. */
export class JobAttributes {
  /** The maximum run time. Default: 10 minutes. */
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
