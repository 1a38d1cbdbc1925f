import type { Viewer } from '../../src/domain/access.ts'
import type { Domain } from '../../src/domain/domain.ts'
import { submitAll } from '../../src/domain/submission/submit.ts'
import type { SubmitOutcome } from '../../src/domain/submission/submit-group.ts'

/** `submitAll` for submissions without `dryRun`. */
export const submitJobs = (domain: Domain, viewer: Viewer, inputs: readonly unknown[]): Promise<SubmitOutcome[]> =>
  submitAll(domain, viewer, inputs) as Promise<SubmitOutcome[]>
