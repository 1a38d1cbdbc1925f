import { hash } from 'node:crypto'
import type { Sql } from '../../platform/tx.ts'
import type { Domain } from '../domain.ts'
import { newId } from '../ids.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import type { ListedFile } from '../snapshots/file-list.ts'
import { finalSql } from '../state.ts'
import { chooseMediaType } from './media-types.ts'

/** Makes the output files of a run artifacts, once, with one event. */

export interface OutputOrder {
  runId: string
  jobId: string
  number: number
  userId: string
  patterns: readonly string[]
}

const isDueSql = `r.outputs_at IS NULL AND r.lost_at IS NULL AND r.state IN ${finalSql}
  AND jsonb_array_length(j.spec->'outputs') > 0`

/** null: the run has no outputs that are not stored yet, or its node was lost. */
export async function readOutputOrder(sql: Sql, runId: string): Promise<OutputOrder | null> {
  const [order] = await sql.query<OutputOrder>(
    `SELECT r.id AS "runId", r.job_id AS "jobId", r.number, j.user_id AS "userId", j.spec->'outputs' AS patterns
     FROM run r JOIN job j ON j.id = r.job_id WHERE r.id = $1 AND ${isDueSql}`,
    [runId],
    'output_order',
  )
  return order ?? null
}

/** Selects the runs whose outputs are not stored yet. */
export async function readRunsWithOutputs(sql: Sql, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `SELECT r.id FROM run r JOIN job j ON j.id = r.job_id WHERE r.id = ANY($1::text[]) AND ${isDueSql}`,
    [runIds],
    'runs_with_outputs',
  )
  return new Set(rows.map(({ id }) => id))
}

interface Collected {
  /** null: the run has no files. */
  snapshotId: string | null
  files: readonly ListedFile[]
  /** The skipped files, with reasons; null: none. */
  skipped: string | null
}

export async function attachOutputs(domain: Domain, order: OutputOrder, collected: Collected): Promise<void> {
  const { jobId, runId, number } = order
  const { snapshotId, files, skipped } = collected
  const rows = files.map((file) => ({
    ...file,
    id: newId('artifact', domain.time.nowMs()),
    type: chooseMediaType(file.path),
  }))
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  await domain.db.locking(async (tx) => {
    await tx.query('SELECT FROM job WHERE id = $1 FOR NO KEY UPDATE', [jobId])
    const due = await tx.query(
      'UPDATE run SET outputs_at = berth_now() WHERE id = $1 AND outputs_at IS NULL RETURNING 1',
      [runId],
    )
    if (due.length === 0) return
    const facts = JSON.stringify({ files: files.length, bytes, skipped })
    const [told] = await tx.query<{ version: number }>(
      `WITH ${collectedSql} SELECT version FROM changed`,
      [jobId, number, describe(files.length, skipped), facts],
      'outputs_collected',
    )
    if (!told || snapshotId === null) return
    await tx.query(
      insertSql,
      [
        jobId,
        told.version,
        runId,
        number,
        snapshotId,
        ...(['id', 'path', 'type', 'size', 'sha256'] as const).map((column) => rows.map((row) => row[column])),
        rows.map(hashFile),
      ],
      'insert_outputs',
    )
  })
  domain.wakeups.poke('event')
}

const messageCharactersMax = 4_000

function describe(files: number, skipped: string | null): string {
  const kept = files === 0 ? 'No output files' : `Stored ${files} output ${files === 1 ? 'file' : 'files'}`
  return (skipped === null ? kept : `${kept}; left out: ${skipped}`).slice(0, messageCharactersMax)
}

const collectedSql = jobChangeSql({
  jobs: 'WHERE job.id = $1',
  type: 'ARTIFACT_PUBLISHED',
  event: { run: '$2::int', message: '$3::text', metadata: '$4::text::jsonb' },
})

/** A file that the run has already published under the same name stays a single artifact. */
const insertSql = `
INSERT INTO artifact (job_id, seq, run_id, run, snapshot_id, id, name, media_type, size_bytes, sha256, hash)
SELECT $1, $2, $3, $4, $5, f.id, f.name, f.type, f.bytes, decode(f.sha256, 'hex'), decode(f.hash, 'hex')
FROM unnest($6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[])
  AS f(id, name, type, bytes, sha256, hash)
WHERE NOT EXISTS (
  SELECT FROM artifact a WHERE a.run_id = $3 AND a.name = f.name AND a.sha256 = decode(f.sha256, 'hex')
)`

/** The key under which a stored output is unique among the artifacts of its run. */
const hashFile = ({ path, type, sha256 }: { path: string; type: string; sha256: string }): string =>
  hash('sha256', JSON.stringify([path, type, sha256]))
