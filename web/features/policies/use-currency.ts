import { findCurrency } from '../../../src/client/text/currency.ts'
import { PoolNamesDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'

export const useCurrency = (): string | null => findCurrency(useQuery(PoolNamesDocument, {}).value?.pools.nodes ?? [])
