import type { Sql } from '../../platform/tx.ts'

/**
 * Facts that a backend reports about a run whose state does not change. They are not events and do not change the version
 * of the job; like progress, they reach readers of the job as a message without events.
 */
export interface RunFacts {
  runId: string
  /** Why the run has not started yet; '' clears it. Stored only while the run is STARTING. */
  info?: string
  nativeId?: string
  ip?: string
  imageDigest?: string
  nodes?: readonly string[]
  gpuIds?: readonly number[]
}

/** Writes only facts that differ from the stored ones. */
export async function storeRunFacts(sql: Sql, runs: readonly RunFacts[]): Promise<void> {
  if (runs.length > 0) await sql.query(factsSql, [JSON.stringify(runs)], 'store_facts')
}

/** A run with a preemption request keeps the message about this request. */
const factsSql = `
WITH fact AS MATERIALIZED (
  SELECT f.*, CASE WHEN r.state = 'STARTING' AND r.preempt_requested_at IS NULL THEN f.info END AS waits
  FROM jsonb_to_recordset($1::text::jsonb) AS f("runId" text, info text, "nativeId" text, ip text, "imageDigest" text, nodes text[], "gpuIds" int[])
  JOIN run r ON r.id = f."runId"
),
shown AS (
  UPDATE job SET state_info = nullif(f.waits, ''), told_at = berth_now() FROM fact f JOIN run r ON r.id = f."runId"
  WHERE job.id = r.job_id AND job.run_number = r.number AND job.state = 'STARTING'
    AND f.waits <> coalesce(job.state_info, '')
)
UPDATE run SET state_info = nullif(coalesce(f.waits, run.state_info), ''), native_id = coalesce(f."nativeId", run.native_id),
  ip = coalesce(f.ip, run.ip), image_digest = coalesce(f."imageDigest", run.image_digest), nodes = coalesce(f.nodes, run.nodes), gpu_ids = coalesce(f."gpuIds", run.gpu_ids)
FROM fact f WHERE run.id = f."runId" AND (
  f.waits <> coalesce(run.state_info, '') OR f."nativeId" <> coalesce(run.native_id, '')
  OR f.ip <> coalesce(run.ip, '') OR f."imageDigest" <> coalesce(run.image_digest, '') OR f.nodes <> run.nodes OR f."gpuIds" <> run.gpu_ids)`
