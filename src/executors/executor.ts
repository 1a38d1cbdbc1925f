import type { JobSpec } from '../domain/spec.ts'

/**
 * The contract between the runner and a backend: five verbs over handles. A handle is a plain string that the database
 * stores; an executor keeps nothing that it cannot find again by the handle, so no run is lost when a server dies. The
 * runner is the only caller. One contract suite (test/executors/contract.ts) runs over every implementation.
 */

export interface Executor {
  readonly name: string
  /**
   * Starts the run, or finds it: a second call with the same run id does not start it twice. Throws StartFailed. After
   * `unwanted` it need not wait for anything more, such as an image: it returns the handle, or throws StartFailed if
   * nothing of the run exists, or another error if it does not know. `tell` gets the reason while it waits.
   */
  start(run: RunSpec, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<Handle>
  /**
   * The handle of a run that was started, if the handle was not stored; null: nothing of the run exists, and a start
   * that was begun will not go on. Starts nothing.
   */
  find(runId: string): Promise<Handle | null>
  /** The present state, one observation per handle, in their order. `gone` is an answer, not an error. */
  inspect(handles: readonly Handle[]): Promise<readonly Observation[]>
  /**
   * Output after `from` (null: the beginning), in order. `next` is stored in the transaction that stores the bytes, and
   * passed as `from` later. Ends after the last byte of a run that is over, or when `signal` fires.
   */
  logs(handle: Handle, from: LogPosition | null, signal: AbortSignal): AsyncIterable<LogChunk>
  /** Requests the end: TERM, grace, KILL. Safe to repeat, and safe on a run that is over. Does not wait for the end. */
  stop(handle: Handle, graceMs: number): Promise<void>
  /** Handles whose state may have changed, if the backend can push. All are inspected every few seconds anyway. */
  watch?(signal: AbortSignal): AsyncIterable<Handle>
  /** The run and its log are stored and final: the backend may remove what it keeps of it (spool, container). */
  forget?(handle: Handle): Promise<void>
  /** All runs of which it keeps anything, running or over. */
  list?(): Promise<readonly { runId: string; handle: Handle }[]>
  /** Removes what killed servers left of their work, other than runs. */
  sweep?(): Promise<void>
  /** Nodes of a backend that chooses nodes itself, and what others hold of them. */
  capacity?(): Promise<readonly BackendNode[]>
  /** Which of these nodes do not answer now. Absent: its nodes are this machine. */
  silent?(nodes: readonly string[]): Promise<readonly string[]>
  /** What people are shown of it, and the reason if it is unavailable. */
  describe(): Promise<ExecutorDescription>
  /** Releases watchers and timers; runs go on. */
  close(): Promise<void>
}

export type Handle = string
/** JSON whose form belongs to the executor. */
export type LogPosition = unknown

export interface RunSpec {
  runId: string
  jobId: string
  /** Number of the run: 1, 2, 3 … */
  number: number
  spec: JobSpec
  /** Names of the nodes that it was placed on; empty if the backend chooses them. */
  nodes: readonly string[]
  /** Physical ids of the GPUs it may use; the job sees 0 … n−1. Empty if the backend chooses them. */
  gpuIds: readonly number[]
  /**
   * Variables that Berth adds to the job's environment (BERTH_JOB_ID, BERTH_RUN, …); they override the spec's.
   * BERTH_TOKEN is a secret: never in a command line, a log, or what others can read of the backend.
   */
  injected: Readonly<Record<string, string>>
  /** `native` of its submission queue in the configuration: words for the backend, such as a partition. */
  queueNative: Readonly<Record<string, string>>
  /** `nativeId` of its capacity reservation; null: it names none, or Berth alone knows of the reservation. */
  reservationNativeId: string | null
  /**
   * What an earlier run of the job saved, as the text of its JSON; null: nothing. The job finds it in the file that
   * BERTH_CLOSURE names, which only its account can read.
   */
  closure: string | null
  /** Account of the machine that the run belongs to; null: the server's own. */
  unixUser: string | null
  /** An earlier leader may have started it. */
  inherited: boolean
  /** Between TERM and KILL, for a backend that keeps the maximum run time itself. */
  graceMs: number
}

/** All moments are database time (platform/clock.ts), because another server may read them. */
export type Observation =
  /** The backend has the run and it is not running yet; `info` says why, if the backend knows. */
  | { state: 'starting'; info?: string; nativeId?: string }
  | { state: 'running'; startedAt?: Date; nativeId?: string; ip?: string; placements?: readonly BackendPlacement[] }
  | Ended
  /**
   * Its node does not answer: the state is unknown, and nothing may be concluded yet. `neverBegan`: its command has not
   * begun, and will not while the node does not answer.
   */
  | { state: 'unreachable'; info?: string; neverBegan?: boolean }
  /**
   * The run has ended without an end of its own: the machine restarted, the container was removed, the backend lost its
   * node. PREEMPTED: the backend took its nodes away for another job.
   */
  | { state: 'gone'; info?: string; cause?: 'PREEMPTED'; finishedAt?: Date; unsentClosure?: string }
  /** Its command never began and will not: a StartFailed that the backend noticed after `start`. Final. */
  | { state: 'failed'; reason: StartFailed['reason']; message: string }

/** No process of the run is left, and none will begin. */
export const isOver = (observation: Observation | undefined): boolean =>
  observation !== undefined && ['ended', 'gone', 'failed'].includes(observation.state)

export interface Ended {
  state: 'ended'
  /** Exit code of the command, or 128 + signal. */
  exitCode: number
  /** Number of the signal that ended it; null: it exited by itself. */
  signal: number | null
  /** A signal of `stop` was delivered before it ended. */
  stopped: boolean
  /**
   * OOM_KILLED if the backend knows it; MAX_RUN_TIME if the backend's own fallback deadline fired; SUPERVISOR_KILLED if
   * the run was killed together with its supervisor, so that its own end is unknown; RESUME_FAILED if a handler could
   * not continue from its closure.
   */
  cause?: 'OOM_KILLED' | 'MAX_RUN_TIME' | 'SUPERVISOR_KILLED' | 'RESUME_FAILED'
  startedAt?: Date
  finishedAt?: Date
  nativeId?: string
  placements?: readonly BackendPlacement[]
  usage?: RunUsage
  /** The newest closure that the job saved but had not sent when it ended, as the text of its JSON. */
  unsentClosure?: string
  /** What else a user should know of the end. */
  info?: string
}

/** Where a backend that chooses nodes itself put a part of the run. */
export interface BackendPlacement {
  node: string
  /** Physical ids, as far as the backend tells them. */
  gpuIds: readonly number[]
}

/** What the run consumed, as far as the backend can tell. */
export interface RunUsage {
  cpuSeconds?: number
  maxMemoryBytes?: number
}

/** A GPU of such a node; a property that the backend does not report cannot be asked for. */
export interface BackendGpu {
  model: string
  /** 0: not reported. */
  memoryBytes: number
  /** false also if not reported. */
  tensorCores: boolean
  /** The highest version that it supports; null: not reported. */
  cudaVersion: string | null
}

/** A node of a backend that chooses nodes itself. */
export interface BackendNode {
  name: string
  /** CORDONED: the backend starts nothing on it; LOST: it does not answer. */
  state: 'READY' | 'CORDONED' | 'LOST'
  cpuMillis: number
  memoryBytes: number
  cpuModel: string
  infiniband: boolean
  /** The backend starts only runs with GPUs on it. */
  gpuJobsOnly: boolean
  gpus: readonly BackendGpu[]
  /** What others than Berth hold there. */
  heldByOthers: { cpuMillis: number; memoryBytes: number; gpus: number }
}

export type LogStreamName = 'STDOUT' | 'STDERR' | 'SYSTEM'

export type LogChunk =
  /** The bytes may be in a block (platform/blocks.ts): the caller is its holder. */
  | { stream: LogStreamName; bytes: Uint8Array; next: LogPosition }
  /**
   * Bytes that existed and are lost: reported, never skipped silently. DISK_FULL: the backend had no room for them. 0
   * bytes: the amount is unknown.
   */
  | { gap: 'LOST' | 'OVER_LIMIT' | 'NOT_VISIBLE' | 'DISK_FULL'; bytes: number; next: LogPosition }

export interface ExecutorDescription {
  version: string | null
  available: boolean
  /** Why it is unavailable, or what a user should know. */
  message: string | null
  /** What a job asks for and this executor plans with, but cannot hold a run to. Absent: it holds runs to all of it. */
  unenforced?: readonly Limit[]
  /** The NAMEs of the custom attributes `<executor>.NAME` that it takes. Absent: it looks at none. */
  attributes?: readonly string[]
  /** What a job uses instead of other NAMEs. */
  insteadOf?: Readonly<Record<string, string>>
  /** The longest run time in seconds of each submission queue that has one. */
  secondsMax?: Readonly<Record<string, number>>
  /** Whether its configuration names an image for X11 displays. Absent: it needs none, or gives no displays. */
  displays?: boolean
}

export type Limit = 'memory' | 'cpu' | 'pids'

/** The run could not be started, and no process of it is left. */
export class StartFailed extends Error {
  override name = 'StartFailed'
  readonly reason: 'BAD_SPEC' | 'START_FAILED' | 'WORKDIR_NOT_FOUND' | 'NODE_TROUBLE' | 'NOT_TOGETHER' | 'BACKEND_AWAY'
  /**
   * BAD_SPEC and WORKDIR_NOT_FOUND are final; START_FAILED may be tried again, a few times. NODE_TROUBLE: the machine
   * cannot start anything now (no space, no processes, no answer); the job goes on waiting, and the node backs off for
   * a while. NOT_TOGETHER: the backend had no place for all parts of the run at once; the job goes on waiting.
   * BACKEND_AWAY: the job goes on waiting, and its node starts runs of other executors meanwhile.
   */
  constructor(reason: StartFailed['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
