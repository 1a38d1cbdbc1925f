import { GraphQLError } from 'graphql'
import { cancelAheadMs } from '../../platform/connection.ts'
import type { Db } from '../../platform/db.ts'
import { isStatementTimeout, type Sql, type TransactionOptions, Unavailable } from '../../platform/tx.ts'
import { limits } from '../caller-limits.ts'
import { KeyedLimit } from '../keyed-limit.ts'

/**
 * Reads of lists. How long such a statement takes depends on the filter and on the rows, so it is bounded three times:
 * it runs over database connections that background loops and other requests do not use, few statements of a person run
 * at once, and each has a time limit. Otherwise a person with many slow lists would stop the server for the others.
 */
export interface ListReads {
  sqlOf(userId: string): Sql
  /** The same connections without these bounds, for checks of all rows. */
  readonly db: Db
}

const transaction: TransactionOptions = {
  /** PostgreSQL cancels the statement at its limit; this side waits a little longer for that answer. */
  statementMsMax: limits.listMsMax + cancelAheadMs,
  /** A list takes one processor of the database, not several. */
  settings: { max_parallel_workers_per_gather: '0' },
}

export function createListReads(db: Db): ListReads {
  const wait = {
    msMax: limits.waitMsMax,
    refusal: () =>
      new Unavailable(
        `You are reading ${limits.listsInFlightMax} other lists, and they take long; wait for their answers`,
      ),
  }
  const inFlight = new KeyedLimit(limits.listsInFlightMax, wait)
  return {
    db,
    sqlOf: (userId) => ({
      query: <Row>(...statement: Parameters<Sql['query']>) =>
        inFlight
          .run(userId, 1, () => db.transaction((sql) => sql.query<Row>(...statement), transaction))
          .catch(explain),
    }),
  }
}

function explain(error: unknown): never {
  if (!isStatementTimeout(error)) throw error
  throw new GraphQLError(
    `Reading this list takes longer than ${limits.listMsMax / 1_000} s; narrow it by createdAfter, createdBefore, states or ` +
      'another exact filter, start the glob of `name` with fixed characters, or leave out totalCount',
    { extensions: { code: 'QUERY_TIMEOUT' } },
  )
}
