/**
 * `@berth-jobs/berth/handler`: a job as a module. The executor `handler` runs its default export as a separate process,
 * which continues while the server is unreachable (host.ts).
 */

export type Json = Record<string, unknown>

export interface Handler<Input extends Json = Json, Closure extends Json = Json> {
  /** The work of the job. The job succeeds when this returns, and fails when this throws. */
  run(input: Input, context: JobContext): unknown
  /** Continues from the closure of an earlier run, instead of `run`. If it throws, the job ends as RESUME_FAILED. */
  onResume?(closure: Closure, context: JobContext): unknown
}

/**
 * Facts about the job, and its reports. Reports are sent in the background and retried while the server is unreachable.
 * Their promises resolve when the report is stored, and need not be awaited: the process ends after the last report.
 */
export interface JobContext {
  readonly jobId: string
  readonly run: number
  readonly input: Json
  /** The closure that an earlier run saved; null: no closure was saved. */
  readonly closure: Json | null
  /** Aborts when the run must end, because it is cancelled, reached its time limit, or was preempted. */
  readonly signal: AbortSignal
  /** Writes a line to the log of the job. */
  log(line: string): void
  /** Sets the message of the job's progress. */
  status(message: string): Promise<void>
  /** Sets the job's progress, 0 … 1. Only the newest unsent value is sent. */
  progress(fraction: number, message?: string): Promise<void>
  /**
   * Reports numbers, such as `{ loss: 0.3 }`, of a step. Without a step, only the newest unsent value of a name is
   * sent. NaN and infinite values are omitted, with a line in the log.
   */
  metrics(values: Readonly<Record<string, number>>, step?: number): Promise<void>
  /** Publishes an artifact and returns its id. */
  artifact(artifact: ArtifactOfJob): Promise<string>
  /** Saves the state from which a later run continues. Only the newest unsent closure is sent. */
  saveClosure(closure: Json): Promise<void>
}

export interface ArtifactOfJob {
  name: string
  mediaType: string
  /** Location of the content; set either this or `body`. */
  uri?: string
  body?: string
  metadata?: Json
}

/** Returns the handler unchanged; checks the types of its functions. */
export const defineJob = <Input extends Json = Json, Closure extends Json = Json>(
  handler: Handler<Input, Closure>,
): Handler<Input, Closure> => handler
