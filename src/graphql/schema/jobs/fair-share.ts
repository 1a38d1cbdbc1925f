import type { FairShare } from '../../../domain/queue/fair-shares.ts'
import type { JobRow } from '../../../domain/submission/stored-job.ts'
import type { Loaders } from '../../rows/loaders.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns } from '../frame/fields.ts'

export const JobFairShare = builder.objectRef<FairShare>('JobFairShare').implement({
  description:
    'Queue order of a job in a pool with policy FAIR_SHARE: the account with the smallest share first, inside it the person.',
  fields: (t) =>
    exposeColumns(t, {
      account: ['String', 'The account whose share the job uses.'],
      share: ['Float', '`AccountShare.share` of the account at the last count of the leader.'],
      weight: ['Float', 'Weight of the account in the pool.'],
      bid: ['Int', 'Bid among the jobs of one person in the account: the higher bids start first.'],
    }),
})

/** true: the pool orders jobs by fair share, so priorities have no effect. */
export const isOrderedByShare = async ({ pool }: Pick<JobRow, 'pool'>, load: Loaders): Promise<boolean> =>
  (await load.pool.load(pool))?.policy === 'FAIR_SHARE'
