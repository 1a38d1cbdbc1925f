import { createHmac, timingSafeEqual } from 'node:crypto'
import { createBatcher } from '../../platform/batch.ts'
import type { Sql } from '../../platform/tx.ts'
import { anonymous, type RunIdentity, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { Forbidden } from '../errors.ts'
import { loadInstallationKey } from '../installation-key.ts'
import { readRunStates } from '../jobs/runs.ts'
import { isHolding } from '../state.ts'

/**
 * The token of a run (BERTH_TOKEN): `berth_run_`, the id of the run, and HMAC-SHA256 of the id under a key of the
 * database. So every server derives the same token, even when a start is repeated. The token is valid while the run is
 * alive, and only for the operations of this directory.
 */

const form = /^berth_run_([0-9a-z]{26})_([\w-]{43})$/

export const isRunToken = (secret: string): boolean => secret.startsWith('berth_run_')

const computeMac = (key: Uint8Array, runId: string): Buffer => createHmac('sha256', key).update(`run ${runId}`).digest()

export async function deriveRunToken(domain: Domain, runId: string): Promise<string> {
  const mac = computeMac(await loadInstallationKey(domain), runId)
  return `berth_${runId}_${mac.toString('base64url')}`
}

const checksMax = 256

/** The run of a token; null: the token is forged, or the run is over. */
export function createRunTokenCheck(domain: Domain): (secret: string) => Promise<RunIdentity | null> {
  const readAlive = createBatcher<string, RunIdentity | null>({
    max: checksMax,
    run: (runIds) => readAliveRuns(domain.db.sql, runIds),
    mayBeOneItem: () => false,
  })
  return async (secret) => {
    const [, id, mac] = form.exec(secret) ?? []
    if (id === undefined || mac === undefined) return null
    const expected = computeMac(await loadInstallationKey(domain), `run_${id}`)
    if (!timingSafeEqual(Buffer.from(mac, 'base64url'), expected)) return null
    return readAlive(`run_${id}`)
  }
}

/** Returns the runs in the order of `runIds`; null: the run is over or removed. */
export async function readAliveRuns(sql: Sql, runIds: readonly string[]): Promise<(RunIdentity | null)[]> {
  const runs = await readRunStates(sql, runIds)
  return runIds.map((runId) => {
    const run = runs.get(runId)
    return run && isHolding(run.state) ? { runId, jobId: run.jobId, number: run.number } : null
  })
}

/** A run has no permissions; the operations of this directory check `run` instead. */
export const createRunViewer = (run: RunIdentity, origin: Pick<Viewer, 'ip' | 'requestId'>): Viewer => ({
  ...anonymous,
  userId: run.runId,
  userName: run.runId,
  ...origin,
  run,
})

export function demandRun({ run }: Viewer): RunIdentity {
  if (run === null) throw new Forbidden('run')
  return run
}
