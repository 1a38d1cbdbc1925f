import { z } from 'zod'
import { createBatcher } from '../../platform/batch.ts'
import { createNewest } from '../../platform/newest.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import { type Domain, perDomain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { parseInput } from '../parse.ts'
import { aliveRunSql, runIsOver } from './alive-run.ts'
import { demandRun } from './run-tokens.ts'

/**
 * Progress: the newest report of a job counts. Each process writes the progress of a run at most once a second, and of
 * all runs in one statement. Reports that arrive in between are merged field by field; their callers get a response
 * when the merged report is stored.
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
})

/** A field that is left out keeps its value; null removes it. */
interface Report {
  fraction?: number | null | undefined
  message?: string | null | undefined
}

export async function reportProgress(domain: Domain, viewer: Viewer, raw: unknown): Promise<void> {
  const { runId } = demandRun(viewer)
  const report = parseInput(reporting, raw)
  if (report.fraction === undefined && report.message === undefined)
    throw InvalidInput.at('fraction', 'Give fraction, message or both')
  await reportsOf(domain)(runId, report)
}

const reportsOf = perDomain(({ db, clock }) => {
  const store = createBatcher<Stored, boolean>({
    max: batchMax,
    run: (reports) => storeReports(db.sql, reports),
    mayBeOneItem: () => false,
  })
  return createNewest<Report>({
    write: async (runId, report) => {
      if (!(await store({ runId, ...report }))) throw runIsOver()
    },
    merge: (older, newer) => ({ ...older, ...given(newer) }),
    pauseMs,
    clock,
  })
})

const given = (report: Report) => Object.fromEntries(Object.entries(report).filter(([, value]) => value !== undefined))

interface Stored extends Report {
  runId: string
}

async function storeReports(sql: Sql, reports: readonly Stored[]): Promise<boolean[]> {
  const rows = reports.map(({ runId, fraction, message }) => {
    const sets = { setsFraction: fraction !== undefined, setsMessage: message !== undefined }
    return { runId, fraction: fraction ?? null, message: message ?? null, ...sets }
  })
  const stored = await sql.query<{ runId: string }>(storeSql, [JSON.stringify(rows)], 'store_progress')
  const runIds = new Set(stored.map(({ runId }) => runId))
  return reports.map(({ runId }) => runIds.has(runId))
}

const storeSql = `
WITH said AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS p("runId" text, fraction float8, message text,
    "setsFraction" boolean, "setsMessage" boolean)
),
alive AS MATERIALIZED (${aliveRunSql('IN (SELECT "runId" FROM said)')})
UPDATE job SET
  progress_fraction = CASE WHEN said."setsFraction" THEN said.fraction ELSE job.progress_fraction END,
  progress_message = CASE WHEN said."setsMessage" THEN said.message ELSE job.progress_message END,
  progress_at = berth_now(), told_at = berth_now()
FROM alive JOIN said ON said."runId" = alive.run_id WHERE job.id = alive.id
RETURNING alive.run_id AS "runId"`
