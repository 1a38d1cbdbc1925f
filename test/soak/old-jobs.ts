import pg from 'pg'

/**
 * A database with a past: copies of the jobs that are there, which are over, under the names of all people and spread
 * over the last weeks, with their runs, events, keys and rows of the ledger.
 */
export async function fillWithOldJobs(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query(oldSql)
    await client.query(
      `${copied('job')} || jsonb_build_object('id', o.id, 'user_id', o.user_id, 'created_at', o.at,
      'finished_at', o.at, 'sequence', nextval(pg_get_serial_sequence('job', 'sequence')))) r`,
      [count],
    )
    await client.query(`${copied('run', 'job_id')} || jsonb_build_object('id', 'run' || o.tail, 'job_id', o.id)) r`, [
      count,
    ])
    await client.query(`${copied('event', 'job_id')} || jsonb_build_object('job_id', o.id, 'position', NULL)) r`, [
      count,
    ])
    await client.query(
      `${copied('usage_ledger', 'job_id')} || jsonb_build_object('job_id', o.id, 'user_id', o.user_id,
      'at', o.at)) r`,
      [count],
    )
    await client.query(
      `${copied('idempotency_key', 'job_id')} || jsonb_build_object('job_id', o.id, 'user_id', o.user_id,
      'key', o.id)) r`,
      [count],
    )
    await client.query('COMMIT')
    await client.query('ANALYZE')
  } finally {
    await client.end()
  }
}

/** Chooses the copies to make. */
const oldSql = `
CREATE FUNCTION pg_temp.old(count int) RETURNS TABLE (id text, tail text, user_id text, at timestamptz, original text)
LANGUAGE sql AS $$
  SELECT 'job_old' || lpad(i::text, 23, '0'), '_old' || lpad(i::text, 22, '0'),
    people.ids[1 + i % cardinality(people.ids)], berth_now() - i * interval '2 minutes', first.id
  FROM generate_series(1, count) i, (SELECT id FROM job WHERE log_closed ORDER BY sequence LIMIT 1) first,
    (SELECT array_agg(id ORDER BY id) AS ids FROM "user") people
$$`

/** Copies the rows of the first final job, whatever columns they have. */
const copied = (table: string, owner = 'id') => `
  INSERT INTO ${table} OVERRIDING SYSTEM VALUE
  SELECT r.* FROM pg_temp.old($1) o JOIN ${table} t ON t.${owner} = o.original,
    LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(t)`
