import type { JobState } from './job-state.ts'

type Optional = 'message' | 'exitCode' | 'metadata'
export type JobStatusFields = Omit<JobStatus, Optional | 'isFinal'> & Partial<Pick<JobStatus, Optional>>

export interface StatusMetadata {
  /** The id that the backend gave the run: of a process, a container, a Slurm job. */
  nativeId?: string
  /** Berth's own state, which is finer. */
  berthState?: string
  /** Code of the reason, e.g. MAX_RUN_TIME. */
  reason?: string
  /** Number of the run: a job may run more than once. */
  run?: number
}

/** The entry of a job into a state. */
export class JobStatus {
  readonly state: JobState
  /** When the job entered the state; null: before the first report. */
  readonly time: Date | null
  readonly message: string | null
  readonly exitCode: number | null
  readonly metadata: StatusMetadata

  constructor({ state, time, message = null, exitCode = null, metadata = {} }: JobStatusFields) {
    this.state = state
    this.time = time
    this.message = message
    this.exitCode = exitCode
    this.metadata = metadata
  }

  get isFinal(): boolean {
    return this.state.isFinal
  }
}
