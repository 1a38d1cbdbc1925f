import type pg from 'pg'

/**
 * Hashes of stored output, computed by the database. They compare a restored database with the original without the
 * text of COPY.
 */
const logsMax = 100
/** Larger logs take too long to hash. */
const logBytesMax = 8 * 1024 * 1024

interface LogHash {
  runId: string
  sha256: string
}

const hashesSql = (runs: string) => `SELECT l.run_id AS "runId", encode(sha256(coalesce(string_agg(
    sha256(convert_to(concat_ws(' ', c.start_offset, c.end_offset, c.segments, c.gap), 'UTF8') || coalesce(c.data, '')),
    ''::bytea ORDER BY c.start_offset), '')), 'hex') AS sha256
  FROM (${runs}) l LEFT JOIN log_chunk c USING (run_id) GROUP BY l.run_id ORDER BY l.run_id`

/** Hashes up to `logsMax` logs, chosen by a hash of the id of their run, which spreads the choice over all logs. */
export async function hashLogs(client: Pick<pg.Client, 'query'>): Promise<LogHash[]> {
  const runs = `SELECT run_id FROM run_log WHERE end_offset > 0 AND end_offset <= ${logBytesMax} ORDER BY md5(run_id) LIMIT ${logsMax}`
  return (await client.query<LogHash>(hashesSql(runs))).rows
}

/** Returns the runs whose stored output differs from the given hashes. */
export async function findChangedLogs(
  client: Pick<pg.Client, 'query'>,
  expected: readonly LogHash[],
): Promise<string[]> {
  const { rows } = await client.query<LogHash>(hashesSql('SELECT unnest($1::text[]) AS run_id'), [
    expected.map(({ runId }) => runId),
  ])
  const found = new Map(rows.map(({ runId, sha256 }) => [runId, sha256]))
  return expected.filter(({ runId, sha256 }) => found.get(runId) !== sha256).map(({ runId }) => runId)
}
