import type { MachineCounts } from '../../domain/machines/counts.ts'
import { limits } from '../caller-limits.ts'
import { refusal } from '../errors.ts'

export interface PageArgs {
  first?: number | null | undefined
  after?: string | null | undefined
  last?: number | null | undefined
  before?: string | null | undefined
}

export function parsePageSize({ first, last }: PageArgs) {
  if (isGiven(first) && isGiven(last)) throw refusal('BAD_REQUEST', 'Give `first` or `last`, not both')
  const backwards = isGiven(last)
  const limit = (backwards ? last : first) ?? limits.pageSizeDefault
  if (limit < 1 || limit > limits.pageSizeMax)
    throw refusal('BAD_REQUEST', `\`${backwards ? 'last' : 'first'}\` must be 1 … ${limits.pageSizeMax}, not ${limit}`)
  return { limit, backwards }
}

const isGiven = (value: number | null | undefined): value is number => value !== null && value !== undefined

/** Cost of a connection: its selection counts once per requested node. `parsePageSize` refuses invalid sizes. */
export function pageCost({ first, last }: PageArgs): { field: number; multiplier: number } {
  const wanted = first ?? last ?? limits.pageSizeDefault
  return { field: 1, multiplier: Math.min(Math.max(wanted, 1), limits.pageSizeMax) }
}

/** Like `pageCost`, for a list of objects of which few exist. */
export const pageCostUpTo = (upTo: keyof MachineCounts) => (args: PageArgs) => ({ ...pageCost(args), upTo })
