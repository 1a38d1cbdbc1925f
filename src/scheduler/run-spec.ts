import type { Domain } from '../domain/domain.ts'
import { readClosure } from '../domain/inside/closures.ts'
import { deriveRunToken } from '../domain/inside/run-tokens.ts'
import type { HoldingRun } from '../domain/jobs/runs.ts'
import { Unreadable } from '../domain/secret-keys.ts'
import { type RunSecrets, takeRunSecrets } from '../domain/secrets/run-secrets.ts'
import { readArchive } from '../domain/snapshots/archive.ts'
import { countCopies } from '../domain/spec.ts'
import { type RunSpec, StartFailed } from '../executors/executor.ts'

const defaultMasterPort = 29_500

interface RunAids {
  url: string
  token: string
  closure: string | null
  secrets: RunSecrets
  openSnapshot: RunSpec['openSnapshot']
}

export async function readRunAids(domain: Domain, run: HoldingRun, url: string): Promise<RunAids> {
  const token = await deriveRunToken(domain, run.runId)
  const closure = run.number > 1 ? await readClosure(domain.db.sql, run.jobId) : null
  const { snapshot } = run.spec
  const { objects } = domain
  const openSnapshot: RunSpec['openSnapshot'] = snapshot
    ? (target) => readArchive(domain.db.sql, snapshot, { mtime: new Date(domain.time.nowMs()), target, objects })
    : null
  return { url, token, closure, openSnapshot, secrets: await takeSecrets(domain, run) }
}

async function takeSecrets(domain: Domain, { runId, jobId, spec }: HoldingRun): Promise<RunSecrets> {
  if (!spec.secrets?.length) return {}
  const taken = await takeRunSecrets(domain, { runId, jobId, names: spec.secrets }).catch((error: unknown) => {
    if (!(error instanceof Unreadable)) throw error
    throw new StartFailed('START_FAILED', `The secrets of the job cannot be decrypted: ${error.message}`)
  })
  if (taken.refusal !== undefined) throw new StartFailed('BAD_SPEC', taken.refusal)
  return taken.values
}

export function makeRunSpec(
  run: HoldingRun,
  { url, token, closure, secrets, openSnapshot }: RunAids,
  { inherited, graceMs }: Pick<RunSpec, 'inherited' | 'graceMs'>,
): RunSpec {
  const { runId, jobId, number, spec, nodes, gpuIds, unixUser, queueNative, reservationNativeId } = run
  return {
    runId,
    jobId,
    number,
    spec,
    nodes,
    gpuIds,
    unixUser,
    queueNative,
    reservationNativeId,
    closure,
    openSnapshot,
    inherited,
    graceMs,
    injected: {
      ...secrets,
      BERTH_URL: url,
      BERTH_TOKEN: token,
      BERTH_JOB_ID: jobId,
      BERTH_RUN: String(number),
      BERTH_REPLICA: '0',
      BERTH_REPLICAS: String(countCopies(spec.resources)),
      MASTER_ADDR: nodes[0] ?? 'localhost',
      MASTER_PORT: String(spec.resources.replicaMasterPort ?? defaultMasterPort),
    },
  }
}
