import { findRunViolations } from '../selfcheck/selfcheck.ts'
import { type ConditionRule, toMinute } from './condition.ts'

const slowMs = 500
const transactionMinutes = 15
const deadRowsMin = 500_000
const connectionsPart = 0.9
const connectionWaitMs = 1_000

export const databaseConditions = {
  SELF_CHECK: {
    severity: 'PAGE',
    meaning: 'Stored data breaks an invariant: jobs, allocations or limits contradict each other.',
    cause: 'A defect of Berth, or rows that were changed by hand or restored in part.',
    remedy: 'Save the output of the doctor and the log, and report the defect. Do not change the rows by hand.',
    commands: ['berth doctor -o json'],
    forSeconds: 0,
    everySeconds: 30,
    check: async (sql) =>
      (await findRunViolations(sql)).map(({ rule, objectId, message }) => `${rule}: ${objectId}, ${message}`),
  },
  AUDIT_UNCHAINED: {
    severity: 'TICKET',
    meaning: 'Entries of the audit log are not chained within 10 s: until then a removal would not be noticed.',
    cause: 'No server is running, the database is overloaded, or a transaction holds the lock of the chain.',
    remedy: 'Read the log of the servers, and end the transaction that blocks the chain.',
    commands: [
      'berth audit verify',
      `psql -c "SELECT pid, query FROM pg_stat_activity WHERE wait_event_type = 'Lock'"`,
    ],
    forSeconds: 10,
    sql: `SELECT count(*) || ' entries; the first is of ' || to_char(min(at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS evidence
      FROM (SELECT at FROM audit_entry WHERE seq IS NULL AND at < (SELECT berth_now()) - interval '10 seconds' ORDER BY at LIMIT 1000) e
      HAVING count(*) > 0`,
  },
  EVENTS_UNNUMBERED: {
    severity: 'PAGE',
    meaning: 'Events of jobs get no position in the feed: live views, clients and webhooks see no changes.',
    cause: 'The sequencer is blocked by a lock, or the database is overloaded.',
    remedy: 'Read the log of the servers, and end the transaction that blocks the sequencer.',
    commands: [
      'psql -c "SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"',
      'psql -c "SELECT pg_terminate_backend(PID)"',
    ],
    forSeconds: 10,
    sql: `SELECT count(*) || ' events; the first is of ' || to_char(min(at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS evidence
      FROM (SELECT at FROM event WHERE position IS NULL AND at < (SELECT berth_now()) - interval '10 seconds' LIMIT 1000) e
      HAVING count(*) > 0`,
  },
  DATABASE_SLOW: {
    severity: 'TICKET',
    meaning: `A simple write to the database takes more than ${slowMs} ms: submissions and starts are slow.`,
    cause:
      'The disk or processor of the database is overloaded, its network is slow, or a synchronous standby is slow.',
    remedy: 'Look at the load of the database server, its disk, and its standbys.',
    commands: [
      'psql -c "SELECT pid, state, wait_event, query FROM pg_stat_activity WHERE state <> \'idle\'"',
      'iostat -x 5',
    ],
    forSeconds: 0,
    gauge: ({ databaseMs }) => (databaseMs > slowMs ? `a write takes ${Math.round(databaseMs)} ms` : null),
  },
  DATABASE_READ_ONLY: {
    severity: 'PAGE',
    meaning: 'The database is read-only: jobs cannot be submitted, and none starts.',
    cause: 'The address leads to a standby, or the setting `default_transaction_read_only` is on.',
    remedy: 'Point DATABASE_URL to the primary, promote the standby, or remove the setting.',
    commands: ['psql -c "SELECT pg_is_in_recovery()"', 'psql -c "SHOW default_transaction_read_only"'],
    forSeconds: 0,
    sql: `SELECT 'transaction_read_only is on' AS evidence WHERE current_setting('transaction_read_only') = 'on'`,
  },
  LONG_TRANSACTION: {
    severity: 'TICKET',
    meaning: `A transaction has been open for more than ${transactionMinutes} minutes: dead rows stay, and queries become slower.`,
    cause: 'A dump, a backup, a forgotten `psql` session, or a prepared transaction.',
    remedy: 'Let a backup finish. End a forgotten session.',
    commands: [
      'psql -c "SELECT pid, usename, application_name, xact_start, query FROM pg_stat_activity ORDER BY xact_start"',
      'psql -c "SELECT pg_terminate_backend(PID)"',
    ],
    forSeconds: 0,
    sql: `SELECT 'pid ' || pid || ' (' || application_name || '), since ' || ${toMinute('xact_start')} AS evidence
      FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
        AND pid <> pg_backend_pid() AND xact_start < (SELECT berth_now()) - interval '${transactionMinutes} minutes'
      UNION ALL SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts
      WHERE database = current_database() AND prepared < (SELECT berth_now()) - interval '${transactionMinutes} minutes'`,
  },
  DEAD_ROWS: {
    severity: 'TICKET',
    meaning: 'A table has far more dead rows than live ones: queries on it become slow.',
    cause: 'Autovacuum is off or too slow, or an open transaction or a replication slot keeps the rows.',
    remedy: 'End the transaction or drop the unused slot, turn autovacuum on, and vacuum the table.',
    commands: [
      'psql -c "SELECT slot_name, active, xmin FROM pg_replication_slots"',
      'psql -c "VACUUM (VERBOSE) TABLE"',
    ],
    forSeconds: 0,
    everySeconds: 30,
    sql: `SELECT 'table ' || relname || ': ' || n_dead_tup || ' dead rows, ' || n_live_tup || ' live ones' AS evidence
      FROM pg_stat_user_tables WHERE n_dead_tup > ${deadRowsMin} AND n_dead_tup > 2 * n_live_tup ORDER BY n_dead_tup DESC`,
  },
  CONNECTIONS_SHORT: {
    severity: 'TICKET',
    meaning: 'Connections to the database are short: requests wait for one or are refused.',
    cause:
      'Too many servers or other clients for `max_connections`, or slow statements hold all connections of a server.',
    remedy: 'Raise `max_connections`, or lower `database.connections` of the servers; see which statements are slow.',
    commands: [
      'psql -c "SELECT application_name, state, count(*) FROM pg_stat_activity GROUP BY 1, 2 ORDER BY 3 DESC"',
    ],
    forSeconds: 0,
    sql: `SELECT used || ' of ' || allowed || ' connections of PostgreSQL are in use' AS evidence
      FROM (SELECT count(*) AS used FROM pg_stat_activity WHERE backend_type = 'client backend') u,
        (SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS allowed) a
      WHERE used >= ${connectionsPart} * allowed`,
    gauge: ({ connectionWaitMs: ms }) =>
      ms > connectionWaitMs ? `a statement waited ${Math.round(ms)} ms for a connection of the server` : null,
  },
} satisfies Record<string, ConditionRule>
