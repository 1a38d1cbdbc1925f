import type { Duplex, Readable, Writable } from 'node:stream'
import type { FoundOutput, OutputFile, Unread } from '../domain/outputs/found.ts'
import type { JobSpec } from '../domain/spec.ts'

/**
 * The contract between the runner and a backend: five methods over handles. The database stores handles. An executor
 * keeps no state that it cannot find again by the handle, so no run is lost when a server dies. One test suite
 * (test/executors/contract.ts) covers every implementation.
 */

export interface Executor {
  readonly name: string
  /**
   * Starts the run, or finds it if it was started before: a second call with the same run id does not start it twice.
   * Throws StartFailed. When `unwanted` fires, the start stops waiting, for example for an image. It then returns the
   * handle, throws StartFailed if no part of the run exists, or throws another error if that is unknown. `tell` reports
   * why the start waits.
   */
  start(run: RunSpec, unwanted?: AbortSignal, tell?: (info: string) => void): Promise<Handle>
  /**
   * Returns the handle of a run without starting it. null: no part of the run exists, and an unfinished start will not
   * continue. `nodes`: nodes of the run; undefined: unknown.
   */
  find(runId: string, nodes?: readonly string[]): Promise<Handle | null>
  /**
   * Returns the current states, one observation per handle, in the same order. A missing run is reported as `gone`, not
   * as an error.
   */
  inspect(handles: readonly Handle[]): Promise<readonly Observation[]>
  /**
   * Yields output after `from` (null: from the beginning), in order. `next` is stored together with the bytes and
   * passed as `from` later. Ends after the last byte of an ended run, or when `signal` aborts.
   */
  logs(handle: Handle, from: LogPosition | null, signal: AbortSignal): AsyncIterable<LogChunk>
  /**
   * Requests the end of the run: TERM, grace period, KILL. Does not wait for the end. Repeated calls, and calls after
   * the end of the run, are safe.
   */
  stop(handle: Handle, graceMs: number): Promise<void>
  /**
   * Yields handles whose state may have changed. This only speeds up detection, because all runs are inspected every
   * few seconds.
   */
  watch?(signal: AbortSignal): AsyncIterable<Handle>
  /**
   * Reads regular files below the working directory of an ended run, under its account or in its container, without
   * following links. `pick` is called with each file found, and selects files. Yields the unreadable files, too.
   */
  outputs?(
    handle: Handle,
    pick: (found: FoundOutput) => boolean,
    signal: AbortSignal,
  ): AsyncIterable<OutputFile | Unread>
  /** Called when the run, its log and its outputs are completely stored: the backend deletes its spool or container. */
  forget?(handle: Handle): Promise<void>
  /** Lists all runs of which the backend still has data, ended or not. */
  list?(): Promise<readonly { runId: string; handle: Handle }[]>
  /** Removes files that killed servers left behind and that belong to no run. */
  sweep?(): Promise<void>
  /**
   * Returns the current resource use of these running runs, one sample per run, in the same order. A field that cannot
   * be measured is absent. Called every 10 s with all running runs of the pool.
   */
  sample?(runs: readonly SampledRun[]): Promise<readonly Sample[]>
  /** Lists the nodes of a backend that chooses nodes itself, with the amounts used outside Berth. */
  capacity?(): Promise<readonly BackendNode[]>
  /** Returns those of these nodes that are unreachable now. Absent: all nodes are this machine. */
  silent?(nodes: readonly string[]): Promise<readonly string[]>
  /**
   * Runs a command in a running run: in its cgroup or container, with its account, environment and directory. Throws
   * SessionRefused.
   */
  exec?(handle: Handle, order: ExecOrder): Promise<ExecProcess>
  /** Connects to a port on which the run itself listens, never to a port of its machine. Throws SessionRefused. */
  connect?(handle: Handle, port: number): Promise<Duplex>
  /** Describes the backend for users, with the reason if it is unavailable. */
  describe(): Promise<ExecutorDescription>
  /** Stops watchers and timers; runs continue. */
  close(): Promise<void>
}

export type Handle = string
/** JSON in a format of the executor. */
export type LogPosition = unknown

export interface RunSpec {
  runId: string
  jobId: string
  number: number
  spec: JobSpec
  /** Names of the nodes of the run; empty if the backend chooses them. */
  nodes: readonly string[]
  /** Physical ids of the run's GPUs; the job sees 0 … n−1. Empty if the backend chooses the GPUs. */
  gpuIds: readonly number[]
  /**
   * Variables that Berth adds (BERTH_JOB_ID, …); they override variables of the spec. BERTH_TOKEN is a secret: it must
   * never appear in a command line, in a log, or where others can read it in the backend.
   */
  injected: Readonly<Record<string, string>>
  /** `native` of the submission queue in the configuration: options for the backend, such as a partition. */
  queueNative: Readonly<Record<string, string>>
  /** `nativeId` of the capacity reservation. null: the job has no reservation, or one that only Berth knows. */
  reservationNativeId: string | null
  /** JSON that an earlier run saved, or null. Only the account of the job may read the file (BERTH_CLOSURE). */
  closure: string | null
  /**
   * Returns the files with which the run starts, as a tar whose paths and links stay inside of it; null: the run has no
   * snapshot. `target`: the location of the files in the tar; null: paths begin with the names of the snapshot.
   */
  openSnapshot: ((target?: SnapshotTarget) => AsyncIterable<Uint8Array>) | null
  /** System account of the run; null: the server's account. */
  unixUser: string | null
  /** true: an earlier leader committed the start and may have executed it. */
  inherited: boolean
  /** Grace period, used by a backend that enforces the maximum run time itself. */
  graceMs: number
}

export interface SnapshotTarget {
  /** A relative path. The tar contains this folder as well. */
  folder: string
  /** The owner of the folder and of all files in it. */
  uid: number
  gid: number
}

/** All times are database time (platform/clock.ts), because other servers read them. */
export type Observation =
  /** The backend has the run, which is not running yet. `info`: the reason, if known. */
  | { state: 'starting'; info?: string; nativeId?: string }
  | {
      state: 'running'
      startedAt?: Date
      nativeId?: string
      ip?: string
      imageDigest?: string
      placements?: readonly BackendPlacement[]
    }
  | Ended
  /** The state is unknown. `neverBegan`: the command has not begun, and cannot begin while the node is unreachable. */
  | { state: 'unreachable'; info?: string; neverBegan?: boolean }
  /** The run was interrupted. PREEMPTED: the backend took the nodes for another job. */
  | { state: 'gone'; info?: string; cause?: 'PREEMPTED'; finishedAt?: Date; unsentClosure?: string }
  /** The command never began and never will: a StartFailed that the backend noticed after `start`. Final. */
  | { state: 'failed'; reason: StartFailed['reason']; message: string }

/** Whether no process of the run exists, and none will start. */
export const isOver = (observation: Observation | undefined): boolean =>
  observation !== undefined && ['ended', 'gone', 'failed'].includes(observation.state)

export interface Ended {
  state: 'ended'
  /** Exit code of the command, or 128 + the number of the signal. */
  exitCode: number
  /** Signal that ended the command; null: it exited by itself. */
  signal: number | null
  /** true: a signal of `stop` was delivered before the end. */
  stopped: boolean
  /**
   * MAX_RUN_TIME: the deadline in the backend ended the run. SUPERVISOR_KILLED: the run was killed together with its
   * supervisor, so its exit code is unknown. RESUME_FAILED: a handler could not continue from its closure.
   */
  cause?: 'OOM_KILLED' | 'MAX_RUN_TIME' | 'SUPERVISOR_KILLED' | 'RESUME_FAILED'
  startedAt?: Date
  finishedAt?: Date
  nativeId?: string
  imageDigest?: string
  placements?: readonly BackendPlacement[]
  usage?: RunUsage
  /** JSON of the newest closure that the job saved but did not send. */
  unsentClosure?: string
  info?: string
}

export interface BackendPlacement {
  node: string
  /** Physical ids of the GPUs; empty where the backend does not report them. */
  gpuIds: readonly number[]
}

export interface RunUsage {
  cpuSeconds?: number
  maxMemoryBytes?: number
}

export interface SampledRun {
  handle: Handle
  /** Physical ids of its GPUs on this machine; empty if the backend chooses them. */
  gpuIds: readonly number[]
}

export interface Sample {
  /** Processor time since the start of the run. Only its growth counts. */
  cpuSeconds?: number
  /** Cores in use, from a backend that does not report `cpuSeconds`. */
  cpuCores?: number
  /** Memory in use without caches that the kernel can drop. */
  memoryBytes?: number
  /** Average utilization of the GPUs of the run, 0 … 100. */
  gpuPercent?: number
  /** Memory in use on all GPUs of the run. */
  gpuMemoryBytes?: number
}

/** A GPU of a node whose backend chooses nodes. Jobs cannot request a property that the backend does not report. */
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
  /** The backend starts only runs that request GPUs on this node. */
  gpuJobsOnly: boolean
  gpus: readonly BackendGpu[]
  /** Amounts used outside Berth. */
  heldByOthers: { cpuMillis: number; memoryBytes: number; gpus: number }
}

export type LogStreamName = 'STDOUT' | 'STDERR' | 'SYSTEM'

export type LogChunk =
  /** The bytes may be in a block (platform/blocks.ts); then the receiver holds the block. */
  | { stream: LogStreamName; bytes: Uint8Array; next: LogPosition }
  /**
   * A gap for lost bytes, so that a loss is never silent. DISK_FULL: the backend's disk was full. 0 bytes: an unknown
   * amount.
   */
  | { gap: 'LOST' | 'OVER_LIMIT' | 'NOT_VISIBLE' | 'DISK_FULL'; bytes: number; next: LogPosition }

export interface ExecutorDescription {
  version: string | null
  available: boolean
  /** The reason why the backend is unavailable, or other information for users. */
  message: string | null
  /** Resources whose limits the executor cannot enforce. Absent: it enforces all limits. */
  unenforced?: readonly Limit[]
  /** Names of the custom attributes `<executor>.NAME` that the executor supports. Absent: it ignores all. */
  attributes?: readonly string[]
  /** For some unsupported names, the field to use instead. */
  insteadOf?: Readonly<Record<string, string>>
  /** Maximum run time in seconds, for submission queues that have one. */
  secondsMax?: Readonly<Record<string, number>>
  /**
   * true: the configuration names an image for X11 displays. Absent: the executor needs no such image, or has no
   * displays.
   */
  displays?: boolean
  /** The machine with the backend, if it is a node. */
  machine?: MachineDescription
  /** Machines with backends of their own, by the names of their nodes. */
  machines?: Readonly<Record<string, MachineDescription>>
  /** Problems of this installation for jobs of the executor, as sentences. */
  warnings?: readonly string[]
}

export interface MachineDescription {
  /** Name and version of the engine, such as `Docker 28.2.2`; null: it does not respond. */
  engine: string | null
  /** Duration of a request to the engine. */
  latencyMs: number | null
  /** Why the engine does not respond; null: it does. */
  silence: string | null
  /** Repairs that the machine needs, as sentences. */
  troubles: readonly string[]
}

export interface TerminalSize {
  columns: number
  rows: number
}

export interface ExecOrder {
  /** Empty: run a login shell. */
  command: readonly string[]
  /** null: no terminal, and stdout and stderr stay separate. */
  size: TerminalSize | null
  /** The same as `unixUser` of the run. */
  unixUser: string | null
}

/** A command that was started by `exec`. A server that stops ends it; one that is killed may leave it until the run ends. */
export interface ExecProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  /** null: the command has a terminal, which shows both streams. */
  readonly stderr: Readable | null
  /** Resolves with the exit code, or 128 + the number of the signal; null: unknown. Never rejects. */
  readonly exitCode: Promise<number | null>
  /** Resolves when the size is set; never rejects. Not called again before that; the same applies to `signal`. */
  resize(size: TerminalSize): Promise<void> | void
  signal(name: string): Promise<void> | void
  /** Ends the command. Resolves when it is killed; never rejects. */
  end(): Promise<void> | void
}

/** A session cannot enter the run, for a reason that the user can resolve. */
export class SessionRefused extends Error {
  override name = 'SessionRefused'
}

export type Limit = 'memory' | 'cpu' | 'pids'

/** The run could not be started, and none of its processes is left. */
export class StartFailed extends Error {
  override name = 'StartFailed'
  readonly reason: 'BAD_SPEC' | 'START_FAILED' | 'WORKDIR_NOT_FOUND' | 'NODE_TROUBLE' | 'NOT_TOGETHER' | 'BACKEND_AWAY'
  /**
   * BAD_SPEC and WORKDIR_NOT_FOUND are final; START_FAILED is retried a few times. In the other cases the job waits.
   * NODE_TROUBLE: the machine cannot start anything now, so the node backs off. NOT_TOGETHER: the backend could not
   * place all parts of the run at the same time. BACKEND_AWAY: the backend is unavailable, but the node can still start
   * runs of other executors.
   */
  constructor(reason: StartFailed['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
