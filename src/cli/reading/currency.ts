import { PoolNamesDocument } from '../../client/generated/graphql.ts'
import { findCurrency } from '../../client/text/currency.ts'
import type { Cli } from '../frame/cli.ts'

export const readCurrency = async ({ connection }: Cli): Promise<string | null> =>
  findCurrency((await connection().request(PoolNamesDocument, {})).pools.nodes)
