/** The stored spec of a job: normalised, with defaults, and immutable. */
export interface JobSpec {
  name: string | null
  labels: { key: string; value: string }[]
  command: string[] | null
  executable: string | null
  arguments: string[] | null
  handler: string | null
  input: Record<string, unknown> | null
  image: string | null
  /** Id of a snapshot; each run begins with a copy of it. null: none. Absent in jobs of older versions. */
  snapshot?: string | null | undefined
  /** Patterns (like those of `.gitignore`) of files to keep when a run ends. Absent in jobs of older versions. */
  outputs?: string[]
  workdir: string | null
  environment: { name: string; value: string }[]
  /** Names of secrets; the values are read at the start of each run. Absent in old jobs. */
  secrets?: string[]
  inheritEnvironment: boolean
  stdinPath: string | null
  stdoutPath: string | null
  stderrPath: string | null
  preLaunch: string | null
  postLaunch: string | null
  launcher: string
  data: string[]
  /** null: MISSING. */
  pull: 'MISSING' | 'ALWAYS' | null
  networkIsolation: 'IN' | 'OUT' | 'ALL' | null
  internalDns: { name: string; ports: { port: number; targetPort: number; protocol: 'TCP' | 'UDP' }[] } | null
  x11: { gpu: boolean } | null
  resources: Resources
  executor: string
  queue: string
  team: string | null
  project: string | null
  account: string
  capacityReservationId: string | null
  bid: number | null
  interactive: boolean
  preemptable: boolean
  restartable: boolean
  resumable: boolean
  maxRunTimeSeconds: number
  durationSeconds: number | null
  notBefore: string | null
  estimatedCost: number | null
  dependsOn: { jobId: string; on: 'SUCCEEDED' | 'FAILED' | 'FINISHED' }[]
  onDependencyFailure: 'CANCEL' | 'WAIT'
  retry: { maxAttempts: number; onExitCodes: number[] | null } | null
  customAttributes: Record<string, unknown> | null
}

/** Amounts per copy. Jobs with replicas, nodeCount or processes have several copies (shape.ts). */
export interface Resources {
  cpu: number
  memoryBytes: number
  gpu: number
  gpuMemoryBytes: number | null
  gpuTensorCores: boolean | null
  cudaVersion: string | null
  cpuModel: string[]
  gpuModel: string[]
  infiniband: boolean
  replicas: number
  replicaMasterPort: number | null
  gpuIds: number[] | null
  anyGpu: boolean
  nodeCount: number | null
  processCount: number | null
  processesPerNode: number | null
  cpuCoresPerProcess: number | null
  gpuCoresPerProcess: number | null
  exclusiveNodeUse: boolean
}

/** Returns the number of nodes, stated or computed from processes, else the number of replicas. */
export function countCopies({ nodeCount, processCount, processesPerNode, replicas }: Resources): number {
  if (nodeCount !== null) return nodeCount
  return processCount !== null && processesPerNode !== null ? Math.ceil(processCount / processesPerNode) : replicas
}

export function countProcesses(resources: Resources): number {
  return resources.processCount ?? (resources.nodeCount ?? 1) * (resources.processesPerNode ?? 1)
}
