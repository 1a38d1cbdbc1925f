/**
 * `@berth-jobs/berth/handler`: a job as a module. Its default export is what `defineJob` returns; the executor `handler` runs it as
 * a process of its own, which goes on while the server is away (host.ts).
 */

/** A JSON object. */
export type Json = Record<string, unknown>

export interface Handler<Input extends Json = Json, Closure extends Json = Json> {
  /** The job. It succeeds when this returns, and fails when this throws. */
  run(input: Input, context: JobContext): unknown
  /**
   * The job, continued from what an earlier run saved. Without it, `run` is called, and finds the closure in the
   * context. When this throws, the job is FAILED with the reason RESUME_FAILED.
   */
  onResume?(closure: Closure, context: JobContext): unknown
}

/**
 * What a job knows and says. A report is sent in the background and repeated while no server answers; the process ends
 * after the last one. Its promise tells when it is stored, and need not be awaited.
 */
export interface JobContext {
  readonly jobId: string
  /** Number of this run: 1, 2, 3 … */
  readonly run: number
  readonly input: Json
  /** What an earlier run saved; null: nothing. */
  readonly closure: Json | null
  /** Fires when the run is to end: it is cancelled, its time is over, or another job needs its place. */
  readonly signal: AbortSignal
  /** Writes a line to the log of the job. */
  log(line: string): void
  /** Sets the message of the progress. */
  status(message: string): Promise<void>
  /** Sets the progress, 0 … 1. Of several that cannot be sent yet, the newest is. */
  progress(fraction: number, message?: string): Promise<void>
  /** Publishes a result and answers its id. */
  artifact(artifact: ArtifactOfJob): Promise<string>
  /** Saves what a later run needs to continue. Of several that cannot be sent yet, the newest is. */
  saveClosure(closure: Json): Promise<void>
}

export interface ArtifactOfJob {
  name: string
  mediaType: string
  /** Either this or `body`. */
  uri?: string
  body?: string
  metadata?: Json
}

/** The handler itself, with the types of its functions checked. */
export const defineJob = <Input extends Json = Json, Closure extends Json = Json>(
  handler: Handler<Input, Closure>,
): Handler<Input, Closure> => handler
