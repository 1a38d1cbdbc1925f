import type { Rates } from '../../../domain/cost.ts'
import type { RequestContext } from '../../rows/context.ts'
import { builder } from './builder.ts'

export interface Money {
  amount: number
  /** The pool that defines the currency. */
  pool: string
}

export const MoneyRef = builder.objectRef<Money>('Money').implement({
  description: 'An amount of money. Amounts are never converted, so only those of one currency can be added up.',
  fields: (t) => ({
    amount: t.exposeFloat('amount', { description: 'The amount, in units of the currency; it can have decimals.' }),
    currency: t.string({
      nullable: true,
      description: 'Currency of the rates of the pool, by ISO 4217; null: the pool has no rates now.',
      resolve: async ({ pool }, _args, context) => (await readRates(pool, context))?.currency ?? null,
    }),
  }),
})

export const readRates = async (pool: string, { load }: RequestContext): Promise<Rates | null> =>
  ((await load.pool.load(pool))?.rates ?? null) as unknown as Rates | null
