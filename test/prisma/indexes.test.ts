import { beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../support/database.ts'
import { code } from '../support/sources.ts'

/**
 * Every index without a constraint slows down insertions, so each must have a statement of the product that uses it: a
 * text in src/, and the statement or its relevant part. Plans are made without sequential scans, because the tables of
 * a test are small.
 */
interface Need {
  text: string
  statement: string
}

const need = (text: string, statement = text): Need => ({ text, statement })

const newest = (table: string, by: string, where = '') =>
  `SELECT id FROM ${table} ${where} ORDER BY ${by} DESC, id DESC LIMIT 20`

const ofAccount = (table: string, rest: string) =>
  `SELECT * FROM ${table} t WHERE t.account ~>~ ($1 || '.') AND t.account ~<~ ($1 || '/') AND ${rest}`

const alive = 'AND NOT t.log_closed'
const inWindow = 'AND t.at > clock.now - s.hours'

const needs = {
  account_tally_pool_part_idx: need(
    'JOIN account_tally t ON t.pool = $1 AND t.part = p.part',
    'SELECT sum(entries) FROM account_tally WHERE pool = $1 AND part = $2',
  ),
  account_total_pool_idx: need(
    'FROM account_total WHERE pool = $1',
    'SELECT account, sum(entries) FROM account_total WHERE pool = $1 GROUP BY account',
  ),
  allocation_node_id_idx: need(
    "groupBy({ by: ['runId'], where: { nodeId: id } })",
    'SELECT run_id FROM allocation WHERE node_id = $1 GROUP BY run_id',
  ),
  api_token_user_id_idx: need(
    'revokeTokens(tx, { userId: id })',
    'UPDATE api_token SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL',
  ),
  approval_requested_at_id_idx: need('a.requested_at', newest('approval', 'requested_at')),
  approval_status_expires_at_idx: need(
    "a.status = 'PENDING' AND a.expires_at <= (SELECT berth_now())",
    "SELECT job_id FROM approval a WHERE a.status = 'PENDING' AND a.expires_at <= (SELECT berth_now()) ORDER BY a.expires_at LIMIT $1",
  ),
  audit_entry_of_actor: need(
    'actor_id',
    'SELECT id FROM audit_entry WHERE actor_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 20',
  ),
  audit_entry_of_object: need(
    'object_id',
    'SELECT id FROM audit_entry WHERE object_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 20',
  ),
  audit_entry_unchained_idx: need(
    'FROM audit_entry a WHERE a.seq IS NULL AND a.at >= to_timestamp($2::float8 / 1000)',
    'SELECT * FROM audit_entry a WHERE a.seq IS NULL AND a.at >= to_timestamp($2::float8 / 1000) ORDER BY a.at, a.id LIMIT $1',
  ),
  job_session_job_id_created_at_idx: need(
    'FROM job_session WHERE job_id = j.id ORDER BY created_at DESC',
    'SELECT id FROM job_session WHERE job_id = $1 ORDER BY created_at DESC, id DESC LIMIT 100',
  ),
  // Read by its foreign key.
  job_session_run_id_idx: need(
    'DELETE FROM job WHERE id = ANY($1::text[])',
    'DELETE FROM job_session WHERE run_id = $1',
  ),
  job_session_user_id_created_at_idx: need(
    'FROM job_session WHERE user_id = $1 AND ',
    'SELECT count(*) FROM job_session WHERE user_id = $1 AND ended_at IS NULL',
  ),
  saved_view_owner_id_idx: need('v.owner_id = $1', 'SELECT id FROM saved_view WHERE owner_id = $1'),
  saved_view_team_id_idx: need('v.team_id IN', 'SELECT id FROM saved_view WHERE team_id = $1'),
  deleted_job_without_position: need(
    'SELECT job_id, NULL::bigint, at FROM deleted_job WHERE position IS NULL ORDER BY at, job_id LIMIT $1',
  ),
  dependency_on_job_id_idx: need('DELETE FROM dependency WHERE on_job_id = ANY($1::text[])'),
  device_claim_run_id_idx: need(
    'SELECT count(*) FROM held_device c WHERE c.run_id = run.id',
    'SELECT count(*) FROM held_device c WHERE c.run_id = $1',
  ),
  event_without_position: need(
    'SELECT job_id, seq, at FROM event WHERE position IS NULL AND xact >= $2 ORDER BY job_id, seq LIMIT $1',
  ),
  job_snapshot_id_idx: need(
    'SELECT FROM job j WHERE j.snapshot_id = s.id',
    'SELECT FROM job j WHERE j.snapshot_id = $1',
  ),
  hold_pool_idx: need('FROM hold WHERE pool = $1', 'SELECT * FROM hold WHERE pool = $1'),
  idempotency_key_expires_at_idx: need(
    'SELECT ctid FROM idempotency_key WHERE expires_at <= (SELECT berth_now()) ORDER BY expires_at LIMIT $1',
  ),
  artifact_job_id_seq_idx: need(
    'SELECT * FROM artifact WHERE artifact.job_id = parent.id',
    'SELECT * FROM artifact WHERE job_id = $1 ORDER BY seq LIMIT 20',
  ),
  artifact_snapshot_id_idx: need(
    'EXISTS (SELECT FROM artifact a WHERE a.snapshot_id = s.id)',
    'SELECT FROM artifact a WHERE a.snapshot_id = $1',
  ),
  blob_snapshot_id_idx: need('UPDATE blob SET snapshot_id = NULL WHERE snapshot_id = $1'),
  // Read by its foreign key.
  idempotency_key_job_id_idx: need(
    'DELETE FROM job WHERE id = ANY($1::text[])',
    'DELETE FROM idempotency_key WHERE job_id = $1',
  ),
  job_alive_of_user: need(alive, 'SELECT count(*) FROM job t WHERE t.user_id = $1 AND NOT t.log_closed'),
  job_created_at_id_idx: need('j.created_at', newest('job', 'created_at')),
  job_by_finish: need(
    "coalesce(j.finished_at, 'infinity')",
    "SELECT id FROM job j ORDER BY coalesce(j.finished_at, 'infinity') DESC, j.id DESC LIMIT 20",
  ),
  // For accounts here, for queues, pools and executors in test/graphql/rows/lists.test.ts.
  job_by_place: need(alive, ofAccount('job', 'NOT t.log_closed')),
  job_by_phase: need("'NOT j.log_closed'", newest('job', 'created_at', 'WHERE NOT log_closed')),
  job_by_start: need(
    "coalesce(j.started_at, 'infinity')",
    "SELECT id FROM job j ORDER BY coalesce(j.started_at, 'infinity') DESC, j.id DESC LIMIT 20",
  ),
  job_by_priority: need(
    'coalesce(j.priority_override, j.base_priority)::bigint',
    'SELECT id FROM job j ORDER BY coalesce(j.priority_override, j.base_priority)::bigint DESC, j.id DESC LIMIT 20',
  ),
  job_labelled: need(
    "j.labels <> '{}' AND j.labels @> ",
    'SELECT id FROM job j WHERE j.labels <> \'{}\' AND j.labels @> \'{"a": ""}\'',
  ),
  job_named: need('j.name LIKE ', newest('job', 'created_at', "WHERE name LIKE 'train'")),
  job_of_project: need("projects: isOneOf('project'", newest('job', 'created_at', "WHERE project = 'p'")),
  job_of_reason: need("isOneOf('state_reason'", newest('job', 'created_at', "WHERE state_reason = 'OOM_KILLED'")),
  job_of_team: need(alive, 'SELECT count(*) FROM job t WHERE t.team_id = $1 AND NOT t.log_closed'),
  job_retrying: need(
    'SELECT FROM job r WHERE r.retry_of_id = j.id',
    "SELECT 1 FROM job r WHERE r.retry_of_id = 'job_1' AND r.user_id = 'user_1'",
  ),
  job_told: need(
    'WHERE told_at > $1 AND told_at IS NOT NULL ORDER BY told_at DESC LIMIT $2',
    'SELECT id FROM job WHERE told_at > $1 AND told_at IS NOT NULL ORDER BY told_at DESC LIMIT 20',
  ),
  job_unsuccessful: need('j.state IN (', newest('job', 'created_at', "WHERE state IN ('FAILED')")),
  job_user_id_created_at_id_idx: need('j.created_at', newest('job', 'created_at', 'WHERE user_id = $1')),
  lane_of_account: need(
    'l.pool = $1 AND l.account = a.account AND NOT l.interactive',
    'SELECT id FROM lane l WHERE l.pool = $1 AND l.account = $2 AND NOT l.interactive',
  ),
  lane_of_user: need('SELECT DISTINCT pool FROM lane WHERE user_id = $1 ORDER BY pool'),
  lane_overridden: need('SELECT DISTINCT priority AS band FROM lane WHERE pool = $1 AND overridden'),
  lane_pool_idx: need('JOIN lane l ON l.pool = chosen.name', 'SELECT l.user_id FROM lane l WHERE l.pool = $1'),
  lane_view_pool_idx: need(
    'JOIN lane_view v ON v.pool = chosen.name',
    'SELECT sum(waiting) FROM lane_view v WHERE v.pool = $1',
  ),
  pool_change_pool_xact_idx: need('SELECT ctid AS place, id FROM pool_change WHERE pool = $1 AND xact >= $2'),
  pool_use_minute: need('const mergeSql = ', 'DELETE FROM pool_use WHERE seconds = 60 AND at < $1'),
  preemption_pool_at_idx: need(
    'WHERE p.pool = $1 AND p.at > (SELECT berth_now())',
    'SELECT * FROM preemption p WHERE p.pool = $1 AND p.at > (SELECT berth_now())',
  ),
  question_pool_deadline_idx: need(
    'WHERE pool = $1 AND deadline > (SELECT berth_now()) AND answer IS NULL',
    'SELECT id FROM question WHERE pool = $1 AND deadline > (SELECT berth_now()) AND answer IS NULL',
  ),
  queue_entry_oldest: need(
    'SELECT min(eligible_at) FROM queue_entry WHERE pool = p.name AND open',
    'SELECT min(eligible_at) FROM queue_entry WHERE pool = $1 AND open',
  ),
  queue_entry_due: need(
    'q.pool = $1 AND NOT q.open AND q.eligible_at >',
    'SELECT eligible_at FROM queue_entry q WHERE q.pool = $1 AND NOT q.open AND q.eligible_at > $2 ORDER BY 1 LIMIT 1',
  ),
  queue_entry_in_lane: need(
    'AND e.open ORDER BY -e.bid, e.sequence LIMIT',
    'SELECT * FROM queue_entry e WHERE e.lane_id = $1 AND e.open ORDER BY -e.bid, e.sequence LIMIT 20',
  ),
  queue_entry_pool_band_bid_sequence_idx: need(
    'SELECT lane_id, sequence FROM queue_entry WHERE pool = $1 AND band = b.band AND bid = g.bid',
    'SELECT lane_id, sequence FROM queue_entry WHERE pool = $1 AND band = $2 AND bid = $3',
  ),
  queue_tally_pool_idx: need('SELECT open FROM queue_tally WHERE pool = $1 GROUP BY open'),
  run_by_native_id: need('where: { nativeId, job: { executor } }', 'SELECT r.job_id FROM run r WHERE r.native_id = $1'),
  run_holding: need(
    'ORDER BY r.scheduled_at, r.id',
    "SELECT id FROM run WHERE pool = $1 AND state IN ('STARTING', 'RUNNING', 'CANCELLING')",
  ),
  run_lost: need(
    'r.pool = $1 AND r.lost_at IS NOT NULL',
    'SELECT id FROM run r WHERE r.pool = $1 AND r.lost_at IS NOT NULL',
  ),
  run_scheduled: need(
    "FROM run WHERE pool = $1 AND scheduled_at BETWEEN (SELECT berth_now()) - $4::float8 * interval '1 millisecond' AND 'infinity'",
    "SELECT * FROM run WHERE pool = $1 AND scheduled_at BETWEEN (SELECT berth_now()) - $2::float8 * interval '1 millisecond' AND 'infinity'",
  ),
  slot_reservation_made: need(
    "SELECT ctid FROM slot_reservation WHERE created_at < (SELECT berth_now()) - $2 * interval '1 day' ORDER BY created_at LIMIT $1",
  ),
  slot_reservation_open: need(
    'r.user_id = s.id AND r.consumed_at IS NULL AND r.released_at IS NULL',
    'SELECT count(*) FROM slot_reservation r WHERE r.user_id = $1 AND r.consumed_at IS NULL AND r.released_at IS NULL',
  ),
  slot_reservation_user_id_created_at_id_idx: need(
    "from: 'slot_reservation s'",
    newest('slot_reservation', 'created_at', 'WHERE user_id = $1'),
  ),
  team_member_user_id_idx: need(
    'FROM team_member m JOIN team t ON t.id = m.team_id WHERE m.user_id = $1',
    'SELECT t.name FROM team_member m JOIN team t ON t.id = m.team_id WHERE m.user_id = $1',
  ),
  usage_ledger_at: need(
    "SELECT ctid FROM usage_ledger WHERE at < (SELECT berth_now()) - $2 * interval '1 day' ORDER BY at LIMIT $1",
  ),
  usage_ledger_of_account: need(inWindow, ofAccount('usage_ledger', 't.at > $2')),
  usage_ledger_of_team: need(inWindow, 'SELECT sum(cost) FROM usage_ledger t WHERE t.team_id = $1 AND t.at > $2'),
  usage_ledger_user_id_at_idx: need(
    inWindow,
    'SELECT sum(cost) FROM usage_ledger t WHERE t.user_id = $1 AND t.at > $2',
  ),
  webhook_delivery_due: need(
    "WHERE endpoint = $1 AND state = 'PENDING' AND due_at <= (SELECT berth_now())",
    "SELECT id FROM webhook_delivery WHERE endpoint = $1 AND state = 'PENDING' AND due_at <= (SELECT berth_now()) ORDER BY due_at LIMIT $2",
  ),
  webhook_delivery_finished: need(
    'WHERE endpoint = $2 AND state = $3::text::webhook_delivery_state',
    "SELECT id FROM webhook_delivery WHERE endpoint = $2 AND state = 'DEAD' AND finished_at < (SELECT berth_now()) LIMIT $1",
  ),
} satisfies Record<string, Need>

/** Rows of many users, long ago: on a short table every index is cheaper than reading blocks. */
const oldRowsSql = `
WITH ledger AS (
  INSERT INTO usage_ledger (job_id, user_id, account, at, cost)
  SELECT 'job_' || n, 'user_' || n, 'ml', berth_now() - n * interval '1 minute', 0 FROM generate_series(20000, 1, -1) n
)
INSERT INTO slot_reservation (id, user_id, created_at, expires_at)
SELECT 'slot_' || n, 'user_' || n, berth_now() - n * interval '1 minute', berth_now() FROM generate_series(20000, 1, -1) n`

/** Runs and keys of the jobs of a team. */
const runsAndKeysSql = `
WITH runs AS (
  INSERT INTO run (id, job_id, number, pool, state, created_at, scheduled_at, finished_at)
  SELECT 'run_' || n, 'job_' || 1 + n % 1000, 1 + n / 1000, 'p', 'SUCCEEDED', at, at, at
  FROM generate_series(4999, 0, -1) n, LATERAL (SELECT berth_now() - n * interval '1 minute' AS at) t
)
INSERT INTO idempotency_key (user_id, key, payload_hash, hash_version, job_id, expires_at)
SELECT 'user_1', 'key_' || n, '', 1, 'job_' || 1 + n % 1000, berth_now() + n * interval '1 minute' FROM generate_series(1, 5000) n`

/** Indexes that find a few rows of a table that grows with every job. */
const fewOfMany = [
  'idempotency_key_expires_at_idx',
  'run_scheduled',
  'slot_reservation_made',
  'usage_ledger_at',
] as const

/** Final jobs of one team: without any, all indexes on teams cost the same. */
const jobsOfATeamSql = `
WITH person AS (INSERT INTO "user" (id, name, level) VALUES ('user_1', 'ada', 'LEAD')),
team AS (INSERT INTO team (id, name, account) VALUES ('team_1', 'ml', 'ml'))
INSERT INTO job (id, user_id, spec, state, pool, queue, executor, account, base_priority, cpu_millis, memory_bytes, gpu,
  team_id, lane_id, created_at, finished_at, log_closed)
SELECT 'job_' || n, 'user_1', '{}', 'SUCCEEDED', 'p', 'q', 'local', 'ml', 0, 1, 1, 0, 'team_1',
  '00000000-0000-0000-0000-000000000000', berth_now(), berth_now(), true FROM generate_series(1, 1000) n`

const analyzeSql = 'ANALYZE idempotency_key, run, slot_reservation, usage_ledger'

const source = code.filter(({ path }) => path.startsWith('src/')).map(({ text }) => text)

const database = await openDatabase({ isNew: true })
beforeAll(async () => {
  for (const statement of [jobsOfATeamSql, oldRowsSql, runsAndKeysSql, analyzeSql])
    await database.db.sql.query(statement)
})

describe('the indexes of the database', () => {
  it('are all listed in this test, except those of constraints', async () => {
    const found = await database.db.sql.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisunique`,
    )
    expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(needs).sort())
  })

  it.each(Object.entries(needs))('are all needed: %s is used by a statement', async (index, { text, statement }) => {
    expect(source.filter((each) => each.includes(text))).not.toEqual([])
    expect(await planOf(statement, 'off')).toContain(`"${index}"`)
  })

  it.each(fewOfMany)('are chosen: %s is preferred to a table scan, even if values are unknown', async (index) => {
    expect(await planOf(needs[index].statement, 'on')).toContain(`"${index}"`)
  })
})

const planOf = (statement: string, seqScans: 'on' | 'off') =>
  database.db.transaction(async (sql) => {
    await sql.query(`SET LOCAL enable_seqscan = ${seqScans}`)
    return JSON.stringify(await sql.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`))
  })
