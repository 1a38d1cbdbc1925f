import type { JobSpec } from '../domain/spec.ts'

/**
 * The contract between the runner and a backend: four verbs over handles. A handle is a plain string that the database
 * keeps; an executor holds nothing that it cannot find again from it, so a server that dies loses no run. The runner is
 * the only caller. One contract suite (test/executors/contract.ts) runs over every implementation.
 */
export interface Executor {
  readonly name: string
  /** Starts the run, or finds it: a second call with the same run id must not start it twice. Throws StartFailed. */
  start(run: RunSpec): Promise<Handle>
  /**
   * The handle of a run that somebody started, when nobody kept it; null: nothing of it runs, and a start that was begun
   * and not ended will not go on. Starts nothing.
   */
  find(runId: string): Promise<Handle | null>
  /** What the backend says now, one observation per handle, in their order. `gone` is an answer, not an error. */
  inspect(handles: readonly Handle[]): Promise<readonly Observation[]>
  /**
   * Output after `from` (null: the beginning), in order. `next` is stored in the transaction that stores the bytes, and
   * handed back as `from`. Ends after the last byte of a run that is over, or when `signal` fires.
   */
  logs(handle: Handle, from: LogPosition | null, signal: AbortSignal): AsyncIterable<LogChunk>
  /** Asks for the end: TERM, grace, KILL. Safe twice, and safe on a run that is over. Does not wait for the end. */
  stop(handle: Handle, graceMs: number): Promise<void>
  /** Handles whose state may have changed, where the backend can push; inspected every few seconds all the same. */
  watch?(signal: AbortSignal): AsyncIterable<Handle>
  /** The run and its log are stored and final: whatever the backend keeps of it (spool, container) may go. */
  forget?(handle: Handle): Promise<void>
  /** All that it keeps something of, whether it runs or is over. */
  list?(): Promise<readonly { runId: string; handle: Handle }[]>
  /** Which of these nodes do not answer now. Absent: its nodes are this machine. */
  silent?(nodes: readonly string[]): Promise<readonly string[]>
  /** What people are shown of it, and why it cannot be used where it cannot. */
  describe(): Promise<ExecutorDescription>
  /** Lets go of watchers and timers; runs go on. */
  close(): Promise<void>
}

export type Handle = string
/** JSON of the executor's own. */
export type LogPosition = unknown

export interface RunSpec {
  runId: string
  jobId: string
  /** Number of the run: 1, 2, 3 … */
  number: number
  spec: JobSpec
  /** Names of the nodes it was placed on. */
  nodes: readonly string[]
  /** Physical ids of the GPUs it may use; the job sees 0 … n−1. */
  gpuIds: readonly number[]
  /** What Berth adds to the job's environment (BERTH_JOB_ID, BERTH_RUN, …); wins over the spec's. */
  injected: Readonly<Record<string, string>>
  /** Account of the machine that the run belongs to; null: the server's own. */
  unixUser: string | null
}

/** Its moments are of the database's time (platform/clock.ts), however the backend measures: another server may read them. */
export type Observation =
  /** The backend has it and it does not run yet; `info` says why, where the backend knows. */
  | { state: 'starting'; info?: string }
  | { state: 'running'; startedAt?: Date; nativeId?: string; ip?: string }
  | Ended
  /** Its node does not answer: nothing is known, and nothing may be concluded yet. */
  | { state: 'unreachable'; info?: string }
  /** The backend does not know it, or cannot: machine restarted, container removed. */
  | { state: 'gone'; info?: string }

export interface Ended {
  state: 'ended'
  /** The command's own, or 128 + signal. */
  exitCode: number
  /** Number of the signal that ended it; null: it exited by itself. */
  signal: number | null
  /** A signal of `stop` was delivered before it ended. */
  stopped: boolean
  /**
   * OOM_KILLED where the backend knows; MAX_RUN_TIME when its own fallback deadline fired; SUPERVISOR_KILLED when it was
   * killed together with what supervised it, so that its own end is not known.
   */
  cause?: 'OOM_KILLED' | 'MAX_RUN_TIME' | 'SUPERVISOR_KILLED'
  startedAt?: Date
  finishedAt?: Date
  nativeId?: string
}

export type LogStreamName = 'STDOUT' | 'STDERR' | 'SYSTEM'

export type LogChunk =
  | { stream: LogStreamName; bytes: Uint8Array; next: LogPosition }
  /**
   * Bytes that existed and cannot be had: said, never skipped in silence. DISK_FULL: the backend had no room to keep them.
   * 0 bytes: the amount is unknown.
   */
  | { gap: 'LOST' | 'OVER_LIMIT' | 'NOT_VISIBLE' | 'DISK_FULL'; bytes: number; next: LogPosition }

export interface ExecutorDescription {
  version: string | null
  available: boolean
  /** Why it is not available, or what a user should know (no cgroups: limits are not enforced). */
  message: string | null
}

/** The run could not be started, and no process of it is left. */
export class StartFailed extends Error {
  override name = 'StartFailed'
  readonly reason: 'BAD_SPEC' | 'START_FAILED' | 'WORKDIR_NOT_FOUND' | 'NODE_TROUBLE'
  /**
   * BAD_SPEC and WORKDIR_NOT_FOUND are final; START_FAILED may be tried again, a few times. NODE_TROUBLE: the machine cannot
   * start anything now (no space, no processes, no answer); the job goes on waiting, and the node is left alone for a while.
   */
  constructor(reason: StartFailed['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
