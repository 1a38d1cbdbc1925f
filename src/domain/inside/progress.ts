import { z } from 'zod'
import { createBatcher } from '../../platform/batch.ts'
import type { Db } from '../../platform/db.ts'
import { createNewest } from '../../platform/newest.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import { type Domain, perDomain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { parseInput } from '../parse.ts'
import { aliveRunSql, makeRunIsOverError } from './alive-run.ts'
import { addMetrics, type Metric, makeNamesError, mergeMetrics, metricList, type WaitingMetrics } from './metrics.ts'
import { demandRun } from './run-tokens.ts'

/**
 * Progress: the newest report of a job counts. Each process writes the progress of a run at most once a second, and of
 * all runs in one statement, or in one transaction if some have metrics. Reports that arrive in between are merged field
 * by field; their callers get a response when the merged report is stored.
 */

const messageCharactersMax = 1_000
const pauseMs = 1_000
const batchMax = 500

const reporting = z.object({
  fraction: z.number().min(0, 'must be 0 … 1').max(1, 'must be 0 … 1').nullish(),
  message: z
    .string()
    .max(messageCharactersMax, `must have at most ${messageCharactersMax.toLocaleString('en-US')} characters`)
    .nullish(),
  metrics: metricList.nullish(),
})

/** A fraction or message that is left out keeps its value; null removes it. */
interface Report {
  fraction?: number | null | undefined
  message?: string | null | undefined
  metrics?: readonly Metric[] | null | undefined
}

export async function reportProgress(domain: Domain, viewer: Viewer, raw: unknown): Promise<void> {
  const { runId } = demandRun(viewer)
  const report = parseInput(reporting, raw)
  if (report.fraction === undefined && report.message === undefined && !report.metrics?.length)
    throw InvalidInput.at('fraction', 'Give fraction, message or metrics')
  await reportsOf(domain)(runId, { ...report, metrics: mergeMetrics(new Map(), report.metrics ?? []) })
}

const reportsOf = perDomain(({ db, clock }) => {
  const store = createBatcher<Stored, Outcome>({
    max: batchMax,
    run: (reports) => storeReports(db, reports),
    mayBeOneItem: () => false,
  })
  return createNewest<WaitingReport>({
    write: async (runId, { metrics, ...report }) => {
      const outcome = await store({ runId, ...report, metrics: [...metrics.values()] })
      if (outcome === 'RUN_IS_OVER') throw makeRunIsOverError()
      if (outcome === 'TOO_MANY_NAMES') throw makeNamesError()
    },
    merge: (older, newer) => ({
      ...older,
      ...given(newer),
      metrics: mergeMetrics(older.metrics, newer.metrics.values()),
    }),
    pauseMs,
    clock,
  })
})

const given = ({ fraction, message }: WaitingReport) =>
  Object.fromEntries(Object.entries({ fraction, message }).filter(([, value]) => value !== undefined))

interface WaitingReport extends Omit<Report, 'metrics'> {
  metrics: WaitingMetrics
}

interface Stored extends Report {
  runId: string
}

type Outcome = 'STORED' | 'RUN_IS_OVER' | 'TOO_MANY_NAMES'

function storeReports(db: Db, reports: readonly Stored[]): Promise<Outcome[]> {
  if (reports.every(({ metrics }) => !metrics?.length)) return storeProgress(db.sql, reports)
  return db.transaction(async (sql) => {
    const runIds = reports.map(({ runId }) => runId)
    // The next statements see all metrics that were stored before this lock was taken.
    const alive = await sql.query<{ runId: string }>(lockSql, [runIds], 'lock_alive_runs')
    const aliveIds = new Set(alive.map(({ runId }) => runId))
    const reported = reports.flatMap(({ runId, metrics }) =>
      metrics && aliveIds.has(runId) ? [{ runId, metrics }] : [],
    )
    const crowded = await addMetrics(sql, reported)
    const outcomes = await storeProgress(
      sql,
      reports.filter(({ runId }) => !crowded.has(runId)),
    )
    const left = outcomes.values()
    return reports.map(({ runId }) => (crowded.has(runId) ? 'TOO_MANY_NAMES' : (left.next().value ?? 'RUN_IS_OVER')))
  })
}

const lockSql = `WITH alive AS MATERIALIZED (${aliveRunSql('= ANY($1::text[])')}) SELECT run_id AS "runId" FROM alive`

async function storeProgress(sql: Sql, reports: readonly Stored[]): Promise<Outcome[]> {
  const rows = reports.map(({ runId, fraction, message }) => {
    const sets = { setsFraction: fraction !== undefined, setsMessage: message !== undefined }
    return { runId, fraction: fraction ?? null, message: message ?? null, ...sets }
  })
  const stored = await sql.query<{ runId: string }>(storeSql, [JSON.stringify(rows)], 'store_progress')
  const runIds = new Set(stored.map(({ runId }) => runId))
  return reports.map(({ runId }) => (runIds.has(runId) ? 'STORED' : 'RUN_IS_OVER'))
}

/** Metrics alone do not change `progress_at`, because the remaining time is estimated from the last fraction. */
const storeSql = `
WITH said AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS p("runId" text, fraction float8, message text,
    "setsFraction" boolean, "setsMessage" boolean)
),
alive AS MATERIALIZED (${aliveRunSql('IN (SELECT "runId" FROM said)')})
UPDATE job SET
  progress_fraction = CASE WHEN said."setsFraction" THEN said.fraction ELSE job.progress_fraction END,
  progress_message = CASE WHEN said."setsMessage" THEN said.message ELSE job.progress_message END,
  progress_at = CASE WHEN said."setsFraction" OR said."setsMessage" THEN berth_now() ELSE job.progress_at END, told_at = berth_now()
FROM alive JOIN said ON said."runId" = alive.run_id WHERE job.id = alive.id
RETURNING alive.run_id AS "runId"`
