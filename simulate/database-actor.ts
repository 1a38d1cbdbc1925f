import type { Viewer } from '../src/domain/access.ts'
import { approveJobs, rejectJobs } from '../src/domain/control/approve.ts'
import { cancelJobs } from '../src/domain/control/cancel.ts'
import { setJobPriority } from '../src/domain/control/priority.ts'
import type { Domain } from '../src/domain/domain.ts'
import { InvalidInput, InvalidState, NotFound, QuotaExceeded } from '../src/domain/errors.ts'
import { confirmPreemption } from '../src/domain/jobs/confirm-preemption.ts'
import {
  markRunsFound,
  markSilentNodesLost,
  readLostRuns,
  readSeenNodes,
  returnNodes,
} from '../src/domain/jobs/lost-runs.ts'
import { setScopeLimit, updateLimits } from '../src/domain/limits/limits.ts'
import { addNode, updateNode } from '../src/domain/machines/node-changes.ts'
import { applyPlanning } from '../src/domain/machines/pool-settings.ts'
import type { DeclaredNode } from '../src/domain/machines/pools.ts'
import { createCapacityReservation } from '../src/domain/machines/reservations.ts'
import type { Report } from '../src/scheduler/outcome.ts'
import { createReporter } from '../src/scheduler/reports.ts'
import { submitJobs } from '../test/support/submit-jobs.ts'
import { type Action, type Actor, type Asks, type Person, project, type Reserving, type Seen } from './actions.ts'
import { makeSpec } from './spec.ts'

const pool = 'sim'
const holder = 'simulated'
const startAttemptsMax = 3
const GiB = 1024 ** 3
const handle = 'simulated'
const nodeLost: Report = { kind: 'lost', info: 'The node of the run is unreachable' }

export interface Stand {
  domain: Domain
  admin: Viewer
  viewers: Readonly<Record<Person, Viewer>>
  nowMs(): number
  passTime(ms: number): Promise<void>
  epoch(): number
}

/** Performs actions through the verbs of the product over PostgreSQL. */
export class DatabaseActor implements Actor {
  private readonly stand: Stand
  private readonly runSeconds = new Map<string, number>()
  private readonly reservations = new Map<string, string>()

  constructor(stand: Stand) {
    this.stand = stand
  }

  async see(): Promise<Seen> {
    const { sql } = this.stand.domain.db
    const jobs = await sql.query<Seen['jobs'][number] & { startedMs: number | null }>(jobsSql)
    const nodes = await sql.query<Seen['nodes'][number]>('SELECT name, state::text FROM node ORDER BY name')
    const current = await sql.query<{ name: string }>(
      'SELECT name FROM capacity_reservation WHERE ends_at > berth_now() ORDER BY starts_at',
    )
    return {
      nowMs: this.stand.nowMs(),
      nodes,
      reservations: current.map(({ name }) => name),
      jobs: jobs.map(({ startedMs, ...job }) => ({
        ...job,
        endsMs: startedMs === null ? null : startedMs + (this.runSeconds.get(job.id) ?? 0) * 1_000,
      })),
    }
  }

  /** An action may be refused because an earlier one made it impossible. */
  async act(action: Action): Promise<void> {
    // Actions are 1 ms apart, so that the tables have them in order.
    await this.stand.passTime(1)
    try {
      await this.do(action)
    } catch (error) {
      const isRefused = error instanceof InvalidState || error instanceof NotFound || error instanceof QuotaExceeded
      // A FAIR_SHARE pool refuses a priority with InvalidInput.
      if (!isRefused && !(action.kind === 'PRIORITISE' && error instanceof InvalidInput)) throw error
    }
  }

  private async do(action: Action): Promise<void> {
    const { domain, admin } = this.stand
    switch (action.kind) {
      case 'SUBMIT':
        return await this.submit(action.asks, action.times)
      case 'CANCEL':
        await cancelJobs(domain, admin, [{ jobId: action.job }])
        return
      case 'DECIDE':
        return await this.decide(action.job, action.approve)
      case 'PRIORITISE':
        await setJobPriority(domain, admin, { jobId: action.job, priority: action.priority })
        return
      case 'REPORT':
        for (let more = action.times; more > 0; more--) await this.report(action.job, action.run, action.report)
        return
      case 'LEAVE':
        return await this.leave(action.job)
      case 'LOSE':
        return await this.report(action.job, action.run, nodeLost)
      case 'SILENCE':
        await domain.db.transaction((sql) => markSilentNodesLost(sql, pool, [action.name]))
        return
      case 'FIND':
        await domain.db.transaction(async (sql) => {
          await markRunsFound(sql, pool, await readLostRuns(sql, pool))
          const nodes = await readSeenNodes(sql, pool)
          await returnNodes(
            sql,
            pool,
            nodes.map(({ name }) => name),
          )
        })
        return
      default:
        return await this.change(action)
    }
  }

  private async change(
    action: Extract<Action, { kind: 'NODE' | 'ADD_NODE' | 'LIMITS' | 'PLAN' | 'RESERVE' | 'TIME' | 'NOTHING' }>,
  ): Promise<void> {
    const { domain, admin } = this.stand
    switch (action.kind) {
      case 'NODE':
        await updateNode(domain, admin, { id: await this.nodeId(action.name), state: action.state })
        return
      case 'ADD_NODE':
        await addNode(domain, admin, asInput(action.node))
        return
      case 'LIMITS':
        await updateLimits(domain, admin, { pool, ...action.limits })
        await setScopeLimit(domain, admin, { pool, scope: 'QUEUE', name: 'default', ...action.model })
        return
      case 'PLAN':
        await domain.db.locking((tx) => applyPlanning(tx, pool, action.planning))
        return
      case 'RESERVE':
        return await this.reserve(action.reserving)
      case 'TIME':
        return await this.stand.passTime(action.ms)
      case 'NOTHING':
        return
      default:
        return action satisfies never
    }
  }

  // ── jobs ──

  private async submit(asks: Asks, times: number): Promise<void> {
    const { domain, viewers } = this.stand
    const reservationId = asks.reservation === null ? null : (this.reservations.get(asks.reservation) ?? null)
    const spec = {
      ...makeSpec(asks, reservationId),
      ...(asks.eligibleInMs > 0 && { notBefore: new Date(this.stand.nowMs() + asks.eligibleInMs).toISOString() }),
      ...(asks.after.length > 0 && { dependsOn: asks.after.map((jobId) => ({ jobId, on: 'FINISHED' })) }),
    }
    const inputs = Array.from({ length: times }, () => ({ spec, requiresApproval: asks.needsApproval }))
    for (const outcome of await submitJobs(domain, viewers[asks.by], inputs)) {
      if ('jobId' in outcome && !(outcome instanceof Error)) this.runSeconds.set(outcome.jobId, asks.runSeconds)
      else if (!isExpected(outcome)) throw outcome
    }
  }

  private async decide(jobId: string, approve: boolean): Promise<void> {
    const { domain, admin } = this.stand
    const [job] = await domain.db.sql.query<{ version: number }>('SELECT version FROM job WHERE id = $1', [jobId])
    if (!job) return
    const decision = { jobId, expectedVersion: job.version }
    if (approve) await approveJobs(domain, admin, [decision])
    else await rejectJobs(domain, admin, [{ ...decision, reason: 'No' }])
  }

  // ── runs ──

  private async report(jobId: string, number: number, report: Report): Promise<void> {
    const { domain, epoch } = this.stand
    const runId = await this.runId(jobId, number)
    if (runId)
      await createReporter(
        domain,
        { pool, epoch: epoch(), holder },
        startAttemptsMax,
      )({ runId, jobId, number, handle, report })
  }

  private async leave(jobId: string): Promise<void> {
    const { db } = this.stand.domain
    const runId = await this.runId(jobId, null)
    if (runId) await db.transaction((sql) => confirmPreemption(sql, { runId, jobId }))
  }

  /** Id of the run with this number; null: the last one. */
  private async runId(jobId: string, number: number | null): Promise<string | undefined> {
    const [run] = await this.stand.domain.db.sql.query<{ id: string }>(
      'SELECT id FROM run WHERE job_id = $1 AND number = coalesce($2, number) ORDER BY number DESC LIMIT 1',
      [jobId, number],
    )
    return run?.id
  }

  // ── the pool ──

  private async nodeId(name: string): Promise<string> {
    const [node] = await this.stand.domain.db.sql.query<{ id: string }>('SELECT id FROM node WHERE name = $1', [name])
    return node?.id ?? ''
  }

  private async reserve({ name, nodes, startsInMs, endsInMs }: Reserving): Promise<void> {
    const { domain, admin } = this.stand
    const at = (ms: number) => new Date(this.stand.nowMs() + ms).toISOString()
    const nodeIds = await Promise.all(nodes.map((node) => this.nodeId(node)))
    const input = { name, pool, project, nodeIds, startsAt: at(startsInMs), endsAt: at(endsInMs) }
    const { id } = await createCapacityReservation(domain, admin, input)
    this.reservations.set(name, id)
  }
}

/** true: the refusal of the submission is expected, because a quota is used up or the reservation has ended. */
const isExpected = (outcome: unknown) =>
  outcome instanceof QuotaExceeded ||
  (outcome instanceof InvalidInput && outcome.message.includes('capacityReservationId'))

const jobsSql = `
SELECT j.id, j.state::text, j.run_number AS run, (extract(epoch FROM r.started_at) * 1000)::float8 AS "startedMs",
  CASE WHEN r.preempt_signalled_at IS NOT NULL THEN 'SIGNALLED' WHEN r.preempt_requested_at IS NOT NULL THEN 'ASKED' END AS leaves
FROM job j JOIN run r ON r.job_id = j.id AND r.number = j.run_number
WHERE j.state IN ('BLOCKED', 'QUEUED', 'STARTING', 'RUNNING', 'CANCELLING') ORDER BY j.sequence`

function asInput({ name, cpuMillis, memoryBytes, infiniband, devices }: DeclaredNode) {
  const [first] = devices
  const { model, memoryGib, tensorCores } = first ?? { model: '', memoryGib: 0, tensorCores: false }
  const gpus = first ? [{ model, memoryBytes: memoryGib * GiB, tensorCores, count: devices.length }] : []
  return { pool, name, cpu: cpuMillis / 1_000, memoryBytes, infiniband, gpus }
}
