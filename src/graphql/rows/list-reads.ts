import { GraphQLError } from 'graphql'
import { cancelBeforeTimeoutMs } from '../../platform/connection.ts'
import type { Db } from '../../platform/db.ts'
import { isStatementTimeout, type Sql, type TransactionOptions, Unavailable } from '../../platform/tx.ts'
import { limits } from '../caller-limits.ts'
import { KeyedLimit } from '../keyed-limit.ts'

/** List statements use separate connections and limits, so that one user with slow lists does not block all others. */
export interface ListReads {
  sqlFor(userId: string): Sql
  /** The same connections without these limits, for the self-check. */
  readonly db: Db
}

const transaction: TransactionOptions = {
  /** PostgreSQL cancels the statement at its limit; the client waits slightly longer for the error. */
  statementMsMax: limits.listMsMax + cancelBeforeTimeoutMs,
  settings: { max_parallel_workers_per_gather: '0' },
}

export function createListReads(db: Db): ListReads {
  const wait = {
    msMax: limits.waitMsMax,
    refusal: () =>
      new Unavailable(`You have ${limits.listsInFlightMax} slow lists in flight; wait for their responses`),
  }
  const inFlight = new KeyedLimit(limits.listsInFlightMax, wait)
  return {
    db,
    sqlFor: (userId) => ({
      query: <Row>(...statement: Parameters<Sql['query']>) =>
        inFlight
          .run(userId, 1, () => db.transaction((sql) => sql.query<Row>(...statement), transaction))
          .catch(explainTimeout),
    }),
  }
}

function explainTimeout(error: unknown): never {
  if (!isStatementTimeout(error)) throw error
  throw new GraphQLError(
    `Reading this list takes longer than ${limits.listMsMax / 1_000} s; narrow it by createdAfter, createdBefore, states or ` +
      'another exact filter, start the glob of `name` with fixed characters, or leave out totalCount',
    { extensions: { code: 'QUERY_TIMEOUT' } },
  )
}
