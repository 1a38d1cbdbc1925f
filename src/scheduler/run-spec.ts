import type { HoldingRun } from '../domain/jobs/runs.ts'
import { copiesOf } from '../domain/spec.ts'
import type { RunSpec } from '../executors/executor.ts'

const defaultMasterPort = 29_500

/** The request to the executor, with the variables that every job finds in its environment. */
export function runSpecOf(run: HoldingRun, jobUrl: string): RunSpec {
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
    injected: {
      BERTH_URL: jobUrl,
      BERTH_JOB_ID: jobId,
      BERTH_RUN: String(number),
      BERTH_REPLICA: '0',
      BERTH_REPLICAS: String(copiesOf(spec.resources)),
      MASTER_ADDR: nodes[0] ?? 'localhost',
      MASTER_PORT: String(spec.resources.replicaMasterPort ?? defaultMasterPort),
    },
  }
}
