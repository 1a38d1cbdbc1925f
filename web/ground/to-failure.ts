import { RequestFailed } from '@berth-jobs/berth/client'

/** Wraps an error other than RequestFailed, which is a defect of the console. */
export const toFailure = (error: unknown): RequestFailed =>
  error instanceof RequestFailed ? error : new RequestFailed('INTERNAL', String(error))
