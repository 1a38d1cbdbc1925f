/** The package entry `@berth-jobs/berth/psij`: PSI/J's objects over a Berth server. */
export { InvalidJobException, InvalidStateException, SubmitException } from './exceptions.ts'
export { type ExecutorOptions, JobExecutor } from './executor.ts'
export { Job, type JobStatusCallback } from './job.ts'
export {
  type AttributeFields,
  JobAttributes,
  JobSpec,
  type JobSpecFields,
  type ResourceFields,
  ResourceSpecV1,
} from './job-spec.ts'
export { JobState } from './job-state.ts'
export { JobStatus, type StatusMetadata } from './job-status.ts'
export { TimeInterval, TimeUnit } from './time-interval.ts'
