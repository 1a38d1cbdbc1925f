import type { Domain } from '../domain/domain.ts'
import { readClosure } from '../domain/inside/closures.ts'
import { deriveRunToken } from '../domain/inside/run-tokens.ts'
import type { HoldingRun } from '../domain/jobs/runs.ts'
import { countCopies } from '../domain/spec.ts'
import type { RunSpec } from '../executors/executor.ts'

const defaultMasterPort = 29_500

interface RunAids {
  url: string
  token: string
  closure: string | null
}

export async function readRunAids(domain: Domain, run: HoldingRun, url: string): Promise<RunAids> {
  const token = await deriveRunToken(domain, run.runId)
  const closure = run.number > 1 ? await readClosure(domain.db.sql, run.jobId) : null
  return { url, token, closure }
}

export function makeRunSpec(
  run: HoldingRun,
  { url, token, closure }: RunAids,
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
    inherited,
    graceMs,
    injected: {
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
