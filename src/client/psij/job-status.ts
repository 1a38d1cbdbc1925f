import type { JobState } from './job-state.ts'

type Optional = 'message' | 'exitCode' | 'metadata'
export type JobStatusFields = Omit<JobStatus, Optional | 'isFinal'> & Partial<Pick<JobStatus, Optional>>

export interface StatusMetadata {
  /** The id of the run in the backend, such as a process, a container or a Slurm job. */
  nativeId?: string
  /** The state in Berth, which has more states than PSI/J. */
  berthState?: string
  /** Why the job has the state, such as MAX_RUN_TIME. */
  reason?: string
  /** Number of the run, because a job may run more than once. */
  run?: number
}

/** A state that a job has entered, with its time and details. */
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
