import { z } from 'zod'
import type { Sql } from '../../platform/tx.ts'
import { basePriority, demand, userLevels, type Viewer, visibleTo } from '../access.ts'
import { conditionInput, exemptLevelsInput } from '../control/approval-rule-changes.ts'
import { type ApprovalItem, type ApprovalRule, decideApprovalNeed } from '../control/approval-rules.ts'
import { computeExpectedCost, type Rates } from '../cost.ts'
import { listModelsFor } from '../machines/machines.ts'
import { type PoolHardware, readHardware } from '../machines/nodes.ts'
import { parseInput } from '../parse.ts'
import { toShape } from '../shape.ts'
import type { JobSpec } from '../spec.ts'

/**
 * Finds the recent jobs that a rule would have matched, by itself: other rules are ignored. Costs and hardware are those
 * of the pools now, and jobs that were deleted do not count for their users.
 */

export const rulePreviewJobsMax = 100

const previewInput = z.strictObject({ condition: conditionInput, exemptLevels: exemptLevelsInput.nullish() })

export interface RulePreview {
  consideredCount: number
  /** Newest jobs first. */
  jobIds: string[]
}

export async function previewApprovalRule(sql: Sql, viewer: Viewer, raw: unknown): Promise<RulePreview> {
  demand(viewer, 'rule.write')
  const { condition, exemptLevels } = parseInput(previewInput, raw)
  const rule: ApprovalRule = {
    id: '',
    name: '',
    condition,
    priority: 0,
    enabled: true,
    exemptLevels: exemptLevels ?? [],
    requiredLevel: 'LEAD',
    expiresAfterSeconds: 1,
  }
  const jobs = await readRecentJobs(sql, viewer, condition.jobsPerDayAbove ?? null)
  const pools = condition.hardware == null ? [] : [...new Set(jobs.map(({ pool }) => pool))]
  const hardware = await readHardware(sql, pools)
  const matched = jobs.filter((job) => decideApprovalNeed([rule], toItem(job, hardware)) !== null)
  return { consideredCount: jobs.length, jobIds: matched.map(({ id }) => id) }
}

interface RecentJob {
  id: string
  name: string | null
  executor: string
  pool: string
  basePriority: number
  spec: JobSpec
  cpuMillis: number
  gpu: number
  rates: Rates | null
  jobsLastDay: number
  isFirstJob: boolean
}

/** Counts the jobs of a user's day up to `jobsPerDayAbove` + 1. */
function readRecentJobs(sql: Sql, viewer: Viewer, jobsPerDayAbove: number | null): Promise<RecentJob[]> {
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  return sql.query<RecentJob>(
    `SELECT j.id, j.name, j.executor, j.pool, j.base_priority AS "basePriority", j.spec, j.cpu_millis AS "cpuMillis",
       coalesce(j.gpu_most, j.gpu) AS gpu, p.rates,
       (SELECT count(*) FROM (
         SELECT FROM job o WHERE o.user_id = j.user_id AND o.created_at > j.created_at - interval '24 hours'
           AND (o.created_at, o.id) < (j.created_at, j.id) LIMIT ${bind(jobsPerDayAbove === null ? 0 : jobsPerDayAbove + 1)}
       ) before) AS "jobsLastDay",
       NOT EXISTS (SELECT FROM job o WHERE o.user_id = j.user_id AND (o.created_at, o.id) < (j.created_at, j.id)) AS "isFirstJob"
     FROM job j JOIN pool p ON p.name = j.pool WHERE ${visibleTo(viewer, 'j', bind)}
     ORDER BY j.created_at DESC, j.id DESC LIMIT ${rulePreviewJobsMax}`,
    values,
  )
}

function toItem(job: RecentJob, hardware: readonly PoolHardware[]): ApprovalItem {
  const { name, executor, pool, spec, rates, jobsLastDay, isFirstJob } = job
  const { cost, isUnbounded } = computeExpectedCost(spec, rates, job)
  return {
    level: userLevels.find((level) => basePriority[level] === job.basePriority) ?? 'VIEWER',
    name,
    executor,
    cost: isUnbounded ? Number.POSITIVE_INFINITY : cost,
    currency: rates?.currency ?? null,
    hardware: listModelsFor(
      toShape(spec.resources),
      hardware.filter((machines) => machines.pool === pool),
    ),
    gpuModel: spec.resources.gpuModel,
    cpuModel: spec.resources.cpuModel,
    jobsLastDay,
    isFirstJob,
  }
}
