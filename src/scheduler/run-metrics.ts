import type { ReportedJob } from '../domain/jobs/runs.ts'
import type { Move } from '../domain/jobs/transition.ts'
import { sumRequested } from '../domain/machines/amounts.ts'
import { toShape } from '../domain/shape.ts'
import { isFinal } from '../domain/state.ts'
import { defineCounter, defineHistogram, requestBuckets, waitBuckets } from '../platform/metrics.ts'

/** Metrics of the leader of a pool. Each event is counted once, after the commit. */

export const jobWaits = defineHistogram({
  name: 'berth_job_wait_seconds',
  help: 'Time from when a job could start until its start was decided.',
  labelNames: ['pool'],
  buckets: waitBuckets,
})

const startTimes = defineHistogram({
  name: 'berth_run_start_seconds',
  help: 'Time from the decision to start a run until its command runs.',
  labelNames: ['executor'],
  buckets: waitBuckets,
})

const runs = defineCounter({
  name: 'berth_runs_total',
  help: 'Ended runs by their final state. A run whose job is queued again counts as well.',
  labelNames: ['executor', 'outcome'],
})

export const preemptions = defineCounter({
  name: 'berth_preemptions_total',
  help: 'Runs that were asked to end for a job with precedence.',
  labelNames: ['pool'],
})

export const passes = defineHistogram({
  name: 'berth_scheduler_pass_duration_seconds',
  help: 'Time of a pass of the scheduler, with its reads and commits.',
  labelNames: ['pool'],
  buckets: requestBuckets,
})

const cpuSeconds = defineCounter({
  name: 'berth_cpu_seconds_total',
  help: 'Processors that ended runs held, multiplied by the time.',
  labelNames: ['pool'],
})

const gpuSeconds = defineCounter({
  name: 'berth_gpu_seconds_total',
  help: 'GPUs that ended runs held, multiplied by the time.',
  labelNames: ['pool'],
})

export interface MovedJob {
  job: ReportedJob
  steps: readonly Move[]
}

export function countMoves(pool: string, moved: readonly MovedJob[]): void {
  for (const { job, steps } of moved) for (const step of steps) countMove(pool, job, step)
}

function countMove(pool: string, { spec, heldSeconds }: ReportedJob, { to, runEnds }: Move): void {
  const { executor } = spec
  if (to === 'RUNNING') startTimes.observe({ executor }, heldSeconds)
  const outcome = isFinal(to) ? to : runEnds
  if (outcome === undefined) return
  runs.inc({ executor, outcome: outcome.toLowerCase() })
  const { cpu, gpu } = sumRequested(toShape(spec.resources))
  cpuSeconds.inc({ pool }, (cpu / 1_000) * heldSeconds)
  gpuSeconds.inc({ pool }, gpu * heldSeconds)
}
