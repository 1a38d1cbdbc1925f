import { RequestFailed } from '@berth-jobs/berth/client'

/** Errors that are no failed request are defects of the console. */
export const toFailure = (error: unknown): RequestFailed =>
  error instanceof RequestFailed ? error : new RequestFailed('INTERNAL', String(error))
