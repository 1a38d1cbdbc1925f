import { createNewest } from '../../platform/newest.ts'
import type { Sql } from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import { closureBytesMax } from '../closure.ts'
import { type Domain, perDomain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { aliveRunSql, makeRunIsOverError } from './alive-run.ts'
import { demandRun } from './run-tokens.ts'

/**
 * Closures: JSON that a job saves for its next run; the newest counts. Each run has at most one write at a time. Of the
 * closures that arrive during a write, only the newest is stored; all callers get their response then.
 */

export async function saveClosure(domain: Domain, viewer: Viewer, closure: Record<string, unknown>): Promise<void> {
  const { runId } = demandRun(viewer)
  const text = JSON.stringify(closure)
  const bytes = Buffer.byteLength(text)
  if (bytes > closureBytesMax) {
    const message = `Must have at most ${closureBytesMax.toLocaleString('en-US')} bytes as JSON, not ${bytes.toLocaleString('en-US')}`
    throw InvalidInput.at('closure', message)
  }
  await writerOf(domain)(runId, text)
}

const writerOf = perDomain(({ db, clock }) =>
  createNewest<string>({
    write: async (runId, text) => {
      const stored = await store(db.sql, [{ runId, text }])
      if (stored.length === 0) throw makeRunIsOverError()
    },
    merge: (_older, newer) => newer,
    pauseMs: 0,
    clock,
  }),
)

interface Saved {
  runId: string
  text: string
}

/**
 * Stores closures that runs had not sent when they ended, unless the job has continued since. Returns the ids of the
 * jobs.
 */
export async function storeUnsentClosures(sql: Sql, unsent: readonly Saved[]): Promise<string[]> {
  const fitting = unsent.filter(({ text }) => Buffer.byteLength(text) <= closureBytesMax)
  return fitting.length === 0 ? [] : store(sql, fitting)
}

async function store(sql: Sql, saved: readonly Saved[]): Promise<string[]> {
  const rows = await sql.query<{ jobId: string }>(
    `WITH alive AS MATERIALIZED (${aliveRunSql('= ANY($1::text[])')})
     INSERT INTO closure (job_id, run, body)
     SELECT alive.id, alive.number, u.body::json FROM alive JOIN unnest($1::text[], $2::text[]) AS u(run_id, body) USING (run_id)
     ON CONFLICT (job_id) DO UPDATE SET run = excluded.run, body = excluded.body, saved_at = berth_now() RETURNING job_id AS "jobId"`,
    [saved.map(({ runId }) => runId), saved.map(({ text }) => text)],
    'store_closures',
  )
  return rows.map(({ jobId }) => jobId)
}

/** JSON text; null: the job saved no closure. */
export async function readClosure(sql: Sql, jobId: string): Promise<string | null> {
  const [row] = await sql.query<{ body: string }>(
    'SELECT body::text AS body FROM closure WHERE job_id = $1',
    [jobId],
    'closure',
  )
  return row?.body ?? null
}
