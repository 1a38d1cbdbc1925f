import type { JobSpec } from '../domain/spec.ts'

/**
 * The contract between the runner and a backend: five verbs over handles. The database stores handles; an executor
 * keeps no state that it cannot find again by the handle, so no run is lost when a server dies. One contract suite
 * (test/executors/contract.ts) runs over every implementation.
 */

export interface Executor {
  readonly name: string
  /**
   * Starts the run, or finds it: a second call with the same run id does not start it twice. Throws StartFailed. After
   * `unwanted` it need not wait for anything, such as an image: it returns the handle, or throws StartFailed if nothing of
   * the run exists, or another error if that is unknown. `tell` reports why it waits.
   */
  start(run: RunSpec, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<Handle>
  /**
   * The handle of a run; null: nothing of the run exists, and an unfinished start will not continue. Starts nothing.
   */
  find(runId: string): Promise<Handle | null>
  /** The present state, one observation per handle, in their order. `gone` is an answer, not an error. */
  inspect(handles: readonly Handle[]): Promise<readonly Observation[]>
  /**
   * Output after `from` (null: the beginning), in order. `next` is stored together with the bytes, and passed as `from`
   * later. Ends after the last byte of an ended run, or when `signal` aborts.
   */
  logs(handle: Handle, from: LogPosition | null, signal: AbortSignal): AsyncIterable<LogChunk>
  /** Requests the end: TERM, grace, KILL. Safe to repeat, and safe on a run that is over. Does not wait for the end. */
  stop(handle: Handle, graceMs: number): Promise<void>
  /** Handles whose state may have changed. All runs are inspected every few seconds anyway. */
  watch?(signal: AbortSignal): AsyncIterable<Handle>
  /** The run and its log are stored and final: the backend removes its spool or container. */
  forget?(handle: Handle): Promise<void>
  /** All runs of which the backend keeps anything, running or over. */
  list?(): Promise<readonly { runId: string; handle: Handle }[]>
  /** Removes leftovers of killed servers other than runs. */
  sweep?(): Promise<void>
  /** Nodes of a backend that chooses nodes itself, and the amounts that others hold. */
  capacity?(): Promise<readonly BackendNode[]>
  /** Which of these nodes are unreachable now. Absent: the nodes are this machine. */
  silent?(nodes: readonly string[]): Promise<readonly string[]>
  /** A description for people, with the reason if the backend is unavailable. */
  describe(): Promise<ExecutorDescription>
  /** Releases watchers and timers; runs go on. */
  close(): Promise<void>
}

export type Handle = string
/** JSON whose form the executor defines. */
export type LogPosition = unknown

export interface RunSpec {
  runId: string
  jobId: string
  number: number
  spec: JobSpec
  /** Names of the nodes of the run; empty if the backend chooses them. */
  nodes: readonly string[]
  /** Physical ids of its GPUs; the job sees 0 … n−1. Empty if the backend chooses them. */
  gpuIds: readonly number[]
  /**
   * Variables that Berth adds (BERTH_JOB_ID, …); they override the spec's. BERTH_TOKEN is a secret: never in a command
   * line, a log, or a place of the backend that others can read.
   */
  injected: Readonly<Record<string, string>>
  /** `native` of its submission queue in the configuration: options for the backend, such as a partition. */
  queueNative: Readonly<Record<string, string>>
  /** `nativeId` of its capacity reservation; null: no reservation, or one that only Berth knows. */
  reservationNativeId: string | null
  /** JSON that an earlier run saved; null: none. Only the account of the job may read its file (BERTH_CLOSURE). */
  closure: string | null
  /** Account of the machine for the run; null: the server's account. */
  unixUser: string | null
  /** An earlier leader may have started it. */
  inherited: boolean
  /** Grace period, for a backend that keeps the maximum run time itself. */
  graceMs: number
}

/** All moments are database time (platform/clock.ts), because another server may read them. */
export type Observation =
  /** The backend has the run, which does not run yet; `info`: the reason, if known. */
  | { state: 'starting'; info?: string; nativeId?: string }
  | { state: 'running'; startedAt?: Date; nativeId?: string; ip?: string; placements?: readonly BackendPlacement[] }
  | Ended
  /** The state is unknown. `neverBegan`: the command has not begun, and cannot begin while the node is unreachable. */
  | { state: 'unreachable'; info?: string; neverBegan?: boolean }
  /** The run was interrupted. PREEMPTED: the backend took the nodes for another job. */
  | { state: 'gone'; info?: string; cause?: 'PREEMPTED'; finishedAt?: Date; unsentClosure?: string }
  /** The command never began and never will: a StartFailed that the backend noticed after `start`. Final. */
  | { state: 'failed'; reason: StartFailed['reason']; message: string }

/** No process of the run is left, and no process will begin. */
export const isOver = (observation: Observation | undefined): boolean =>
  observation !== undefined && ['ended', 'gone', 'failed'].includes(observation.state)

export interface Ended {
  state: 'ended'
  /** Exit code of the command, or 128 + signal. */
  exitCode: number
  /** Number of the signal that ended the command; null: it exited by itself. */
  signal: number | null
  /** A signal of `stop` was delivered before the end. */
  stopped: boolean
  /**
   * MAX_RUN_TIME: the backend's fallback deadline ended the run. SUPERVISOR_KILLED: the run was killed together with
   * its supervisor, so its exit is unknown. RESUME_FAILED: a handler could not continue from its closure.
   */
  cause?: 'OOM_KILLED' | 'MAX_RUN_TIME' | 'SUPERVISOR_KILLED' | 'RESUME_FAILED'
  startedAt?: Date
  finishedAt?: Date
  nativeId?: string
  placements?: readonly BackendPlacement[]
  usage?: RunUsage
  /** JSON of the newest closure that the job saved but did not send. */
  unsentClosure?: string
  info?: string
}

export interface BackendPlacement {
  node: string
  /** Physical ids, as far as the backend reports them. */
  gpuIds: readonly number[]
}

export interface RunUsage {
  cpuSeconds?: number
  maxMemoryBytes?: number
}

/** A GPU of such a node; jobs cannot request a property that the backend does not report. */
export interface BackendGpu {
  model: string
  /** 0: not reported. */
  memoryBytes: number
  /** false also if not reported. */
  tensorCores: boolean
  /** Highest supported version; null: not reported. */
  cudaVersion: string | null
}

/** A node of a backend that chooses nodes itself. */
export interface BackendNode {
  name: string
  /** CORDONED: the backend starts nothing on it; LOST: it is unreachable. */
  state: 'READY' | 'CORDONED' | 'LOST'
  cpuMillis: number
  memoryBytes: number
  cpuModel: string
  infiniband: boolean
  /** The backend starts only runs with GPUs on it. */
  gpuJobsOnly: boolean
  gpus: readonly BackendGpu[]
  /** Amounts that others than Berth hold. */
  heldByOthers: { cpuMillis: number; memoryBytes: number; gpus: number }
}

export type LogStreamName = 'STDOUT' | 'STDERR' | 'SYSTEM'

export type LogChunk =
  /** The bytes may be in a block (platform/blocks.ts), which the caller then holds. */
  | { stream: LogStreamName; bytes: Uint8Array; next: LogPosition }
  /** Lost bytes, which are never skipped silently. DISK_FULL: the backend had no room. 0 bytes: an unknown amount. */
  | { gap: 'LOST' | 'OVER_LIMIT' | 'NOT_VISIBLE' | 'DISK_FULL'; bytes: number; next: LogPosition }

export interface ExecutorDescription {
  version: string | null
  available: boolean
  /** Why it is unavailable, or other information for users. */
  message: string | null
  /** Limits that this executor plans with, but cannot enforce. Absent: it enforces all. */
  unenforced?: readonly Limit[]
  /** NAMEs of the custom attributes `<executor>.NAME` that it supports. Absent: it ignores them. */
  attributes?: readonly string[]
  /** Alternatives to other NAMEs. */
  insteadOf?: Readonly<Record<string, string>>
  /** Longest run time in seconds of the submission queues that have a limit. */
  secondsMax?: Readonly<Record<string, number>>
  /** Whether its configuration names an image for X11 displays. Absent: it needs no image, or has no displays. */
  displays?: boolean
}

export type Limit = 'memory' | 'cpu' | 'pids'

/** The run could not be started, and no process of it is left. */
export class StartFailed extends Error {
  override name = 'StartFailed'
  readonly reason: 'BAD_SPEC' | 'START_FAILED' | 'WORKDIR_NOT_FOUND' | 'NODE_TROUBLE' | 'NOT_TOGETHER' | 'BACKEND_AWAY'
  /**
   * BAD_SPEC and WORKDIR_NOT_FOUND are final; START_FAILED is retried a few times. In the other cases the job waits.
   * NODE_TROUBLE: the machine cannot start anything now; the node backs off. NOT_TOGETHER: the backend had no place for
   * all parts of the run at once. BACKEND_AWAY: the node starts runs of other executors meanwhile.
   */
  constructor(reason: StartFailed['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
