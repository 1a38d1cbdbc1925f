import type { CompareJobsQuery } from '../../generated/graphql.ts'

export type ComparedJob = Extract<NonNullable<CompareJobsQuery['nodes'][number]>, { spec: unknown }>

/** Names of the jobs on the page: their own names may be equal. */
export const letters = ['A', 'B', 'C', 'D']
