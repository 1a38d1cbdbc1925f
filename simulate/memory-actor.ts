import { basePriority } from '../src/domain/access.ts'
import { findRootAccount, isAtOrBelow, toShareAccount } from '../src/domain/accounts.ts'
import { QuotaExceeded } from '../src/domain/errors.ts'
import { makeLane } from '../src/domain/lanes.ts'
import type { LimitChange } from '../src/domain/limits/limits.ts'
import { judgeQuotas, listApplicableQuotas, type Payer, type Subject } from '../src/domain/limits/quota-rules.ts'
import type { Amounts } from '../src/domain/limits/quota-types.ts'
import { noUsage } from '../src/domain/limits/quota-usage.ts'
import { computeBackOffSeconds } from '../src/domain/machines/node-back-off.ts'
import type { FreeNode } from '../src/domain/machines/placement.ts'
import { mergeSettings } from '../src/domain/scheduling.ts'
import type { JobSpec } from '../src/domain/spec.ts'
import { isHolding } from '../src/domain/state.ts'
import { normaliseSpec } from '../src/domain/submission/normalise.ts'
import { planSteps, type Report } from '../src/scheduler/outcome.ts'
import {
  type Action,
  type Actor,
  type Asks,
  type ModelLimit,
  type PoolPlan,
  people,
  project,
  type Reserving,
  type Seen,
  teams,
} from './actions.ts'
import { createRun, type SimulatedJob, toSeenJob } from './jobs.ts'
import { Memory } from './memory.ts'
import { makeFreeNode, makeLimitRules, makePoolSettings, startThreshold } from './memory-settings.ts'
import { makeSpec } from './spec.ts'

const startAttemptsMax = 3
const hourMs = 3_600_000
const nodeLost: Report = { kind: 'lost', info: 'The node of the run is unreachable' }

export const createMemory = (plan: PoolPlan): Memory => new Memory(makePoolSettings(plan), plan.nodes.map(makeFreeNode))

export class MemoryActor implements Actor {
  private readonly memory: Memory
  private readonly plan: PoolPlan
  private readonly models: Map<string, ModelLimit>
  private limits: LimitChange
  private submitted: (Pick<Payer, 'userId' | 'account'> & { atMs: number })[] = []
  private readonly stateBefore = new Map<string, FreeNode['state']>()
  private readonly startFailures = new Map<string, number>()

  constructor(memory: Memory, plan: PoolPlan) {
    this.memory = memory
    this.plan = plan
    this.limits = plan.limits
    this.models = new Map(plan.models.map((model) => [model.gpuModel, model]))
  }

  see(): Seen {
    const { nowMs, jobs, nodes, settings } = this.memory
    return {
      nowMs,
      jobs: [...jobs.values()].map(toSeenJob),
      nodes,
      reservations: settings.reservations.filter(({ endsMs }) => endsMs > nowMs).map(({ id }) => id),
    }
  }

  act(action: Action): void {
    switch (action.kind) {
      case 'SUBMIT':
        this.submit(action.asks, action.times)
        return
      case 'CANCEL':
        this.withJob(action.job, (job) => this.cancel(job))
        return
      case 'DECIDE':
        this.withJob(action.job, (job) => this.decide(job, action.approve ? 'APPROVED' : 'APPROVAL_REJECTED'))
        return
      case 'PRIORITISE':
        this.withJob(action.job, (job) => this.prioritise(job, action.priority))
        return
      case 'REPORT':
        this.withJob(action.job, (job) => this.report(job, action))
        return
      case 'LEAVE':
        this.withJob(action.job, (job) => this.leave(job))
        return
      case 'LOSE':
        this.withJob(action.job, (job) => this.lose(job, action.run))
        return
      case 'SILENCE':
        this.silence(({ name }) => name === action.name)
        return
      case 'FIND':
        this.find()
        return
      case 'NODE':
        this.changeNodes(({ name }) => name === action.name, action.state)
        return
      case 'ADD_NODE':
        this.memory.changeNodes([...this.memory.nodes, makeFreeNode(action.node)])
        return
      case 'LIMITS':
        this.limit(action.limits, action.model)
        return
      case 'PLAN': {
        const { scheduling, weights } = action.planning
        const settings = mergeSettings(this.plan.policy, scheduling)
        this.memory.changeSettings({ ...settings, weights: new Map(Object.entries(weights)) })
        return
      }
      case 'RESERVE':
        this.reserve(action.reserving)
        return
      case 'TIME':
        this.memory.nowMs += action.ms
        return
      case 'NOTHING':
        return
      default:
        action satisfies never
    }
  }

  private withJob(id: string, work: (job: SimulatedJob) => void): void {
    const job = this.memory.jobs.get(id)
    if (job) work(job)
  }

  // ── submitting ──

  private submit(asks: Asks, times: number): void {
    const { spec } = normaliseSpec(makeSpec(asks), {
      route: route(this.plan),
      account: asks.account,
      destination: undefined,
    })
    const level = people[asks.by]
    const lane = makeLane({
      pool: 'sim',
      userId: asks.by,
      teamId: null,
      account: this.shareAccount(asks.account),
      spec,
      basePriority: basePriority[level],
      override: null,
    })
    for (let more = times; more > 0; more--) {
      const payer: Payer = { userId: asks.by, userName: asks.by, level, team: null, account: asks.account }
      if (!this.isWithinQuotas(payer)) return
      this.submitted.push({ userId: payer.userId, account: payer.account, atMs: this.memory.nowMs })
      this.memory.add(this.newJob(asks, { lane, spec }))
    }
  }

  private shareAccount(account: string): string {
    return toShareAccount(account, findRootAccount(account, teams), Object.fromEntries(this.memory.settings.weights))
  }

  private newJob(asks: Asks, { lane, spec }: Pick<SimulatedJob, 'lane'> & { spec: JobSpec }): SimulatedJob {
    const { memory } = this
    const sequence = memory.nextSequence()
    const state = asks.needsApproval ? 'BLOCKED' : 'QUEUED'
    return {
      id: memory.newId('job'),
      lane,
      bid: asks.bid,
      sequence,
      turn: sequence,
      state,
      eligibleMs: memory.nowMs + asks.eligibleInMs,
      after: asks.after,
      runSeconds: asks.runSeconds,
      maxRunTimeSeconds: spec.maxRunTimeSeconds,
      run: { ...createRun(memory.newId('run'), 1), state },
      ended: [],
      startFailures: 0,
      open: false,
    }
  }

  private isWithinQuotas(payer: Payer): boolean {
    const { quotas } = this.plan
    if (quotas.length === 0) return true
    const one = { ...noUsage.amounts, CONCURRENT_JOBS: 1, JOBS_PER_HOUR: 1, JOBS_PER_DAY: 1 }
    try {
      judgeQuotas(listApplicableQuotas(quotas, payer, null), (subject) => this.usedBy(subject), one)
      return true
    } catch (error) {
      if (error instanceof QuotaExceeded) return false
      throw error
    }
  }

  usedBy({ kind, id }: Pick<Subject, 'kind' | 'id'>): Amounts {
    const { memory } = this
    const isOf = (of: { userId: string; account: string }) =>
      kind === 'user' ? of.userId === id : isAtOrBelow(of.account, id)
    this.submitted = this.submitted.filter(({ atMs }) => atMs > memory.nowMs - hourMs)
    const recent = this.submitted.filter(isOf).length
    const alive = [...memory.jobs.values()].filter(({ lane }) => isOf(lane)).length
    return { ...noUsage.amounts, CONCURRENT_JOBS: alive, JOBS_PER_HOUR: recent, JOBS_PER_DAY: recent }
  }

  // ── jobs ──

  private cancel(job: SimulatedJob): void {
    if (job.state === 'CANCELLING') return
    const to = job.state === 'BLOCKED' || job.state === 'QUEUED' ? 'CANCELLED' : 'CANCELLING'
    this.memory.move(job, { to, reason: 'CANCELLED' })
  }

  private decide(job: SimulatedJob, reason: 'APPROVED' | 'APPROVAL_REJECTED'): void {
    if (job.state === 'BLOCKED') this.memory.move(job, { to: reason === 'APPROVED' ? 'QUEUED' : 'FAILED', reason })
  }

  private prioritise(job: SimulatedJob, priority: number): void {
    if (job.state !== 'QUEUED' && job.state !== 'BLOCKED') return
    const { id, ...lane } = job.lane
    this.memory.shift(job, { ...lane, priority, overridden: true, id: `${id.split('/')[0]}/${priority}` })
  }

  // ── runs ──

  private report(job: SimulatedJob, { report, run, times }: { report: Report; run: number; times: number }): void {
    for (let more = times; more > 0; more--) if (job.run.number === run && isHolding(job.state)) this.hear(job, report)
  }

  private hear(job: SimulatedJob, report: Report): void {
    this.countStart(job, report)
    const { memory } = this
    const { run } = job
    const known = {
      jobId: job.id,
      state: job.state,
      run: run.number,
      spec: { restartable: job.lane.restartable, retry: null, maxRunTimeSeconds: job.maxRunTimeSeconds } as JobSpec,
      expired: false,
      endsWithReservation: false,
      leaving: run.leaves === null ? null : 'The run has to leave',
      preempted: run.leaves === 'SIGNALLED',
      tier: memory.preemptions.find(({ victimRunId }) => victimRunId === run.id)?.tier ?? null,
      startFailures: job.startFailures,
      exits: 0,
      hasClosure: false,
      heldSeconds: 0,
    }
    for (const { to, reason, runEnds, eligibleInMs, losesTurn } of planSteps(known, report, startAttemptsMax)) {
      if (to === 'RUNNING') {
        run.startedMs = memory.nowMs
        run.endsMs = memory.nowMs + job.runSeconds * 1000
      }
      if (to === 'QUEUED') job.eligibleMs = memory.nowMs + (eligibleInMs ?? 0)
      if (losesTurn) job.turn = memory.nextSequence()
      memory.move(job, { to, reason, ...(runEnds && { runEnds }) })
    }
  }

  private leave({ run, state }: SimulatedJob): void {
    const { memory } = this
    if (run.leaves !== 'ASKED' || state === 'CANCELLING') return
    const order = memory.preemptions.find(({ victimRunId }) => victimRunId === run.id)
    if (order && memory.holds.has(order.claimantJobId)) {
      run.leaves = 'SIGNALLED'
      return
    }
    run.leaves = null
    memory.preemptions = memory.preemptions.filter((one) => one !== order)
    memory.tellRun(run.id)
  }

  // ── machines ──

  private lose(job: SimulatedJob, run: number): void {
    if (job.run.number !== run || !isHolding(job.state)) return
    const on = new Set(job.run.placements.map(({ nodeId }) => nodeId))
    this.silence(({ id }) => on.has(id))
    this.hear(job, nodeLost)
  }

  private silence(isMeant: (node: FreeNode) => boolean): void {
    for (const node of this.memory.nodes)
      if (isMeant(node) && node.state !== 'LOST') this.stateBefore.set(node.id, node.state)
    this.changeNodes(isMeant, 'LOST')
  }

  /** Counts the start like domain/machines/node-back-off.ts. */
  private countStart({ run }: SimulatedJob, report: Report): void {
    if (report.kind === 'seen') this.forgetFailures(run)
    if (report.kind !== 'startFailed') return
    const { memory, startFailures } = this
    const on = new Set(run.placements.map(({ nodeId }) => nodeId))
    const suspects = memory.nodes.filter(({ id, backOff }) => on.has(id) && (backOff?.untilMs ?? 0) <= memory.nowMs)
    const backOffs = new Map<string, FreeNode['backOff']>()
    for (const { id } of suspects) {
      const failures = (startFailures.get(id) ?? 0) + 1
      startFailures.set(id, failures)
      const seconds = computeBackOffSeconds(failures, report.reason === 'NODE_TROUBLE')
      const untilMs = memory.nowMs + seconds * 1_000
      if (seconds > 0) backOffs.set(id, { untilMs, because: report.message, isOver: false, probes: 0 })
    }
    if (backOffs.size > 0)
      memory.changeNodes(memory.nodes.map((node) => ({ ...node, backOff: backOffs.get(node.id) ?? node.backOff })))
  }

  private forgetFailures({ placements, sinceMs }: SimulatedJob['run']): void {
    const { memory, startFailures } = this
    const on = new Set(placements.map(({ nodeId }) => nodeId))
    const isWell = ({ id, backOff }: FreeNode) =>
      on.has(id) && startFailures.has(id) && (backOff?.untilMs ?? 0) <= sinceMs
    const well = new Set(memory.nodes.filter(isWell))
    for (const { id } of well) startFailures.delete(id)
    if ([...well].every(({ backOff }) => backOff === null)) return
    memory.nodes = memory.nodes.map((node) => (well.has(node) ? { ...node, backOff: null } : node))
    memory.told.push({ kind: 'NODES' })
  }

  private find(): void {
    const { memory, stateBefore } = this
    memory.changeNodes(memory.nodes.map((node) => ({ ...node, state: stateBefore.get(node.id) ?? node.state })))
    stateBefore.clear()
  }

  private changeNodes(isMeant: (node: FreeNode) => boolean, state: FreeNode['state']): void {
    const { memory } = this
    memory.changeNodes(memory.nodes.map((node) => (isMeant(node) ? { ...node, state } : node)))
  }

  // ── settings ──

  private limit(limits: LimitChange, model: ModelLimit): void {
    this.limits = limits
    this.models.set(model.gpuModel, model)
    const rules = makeLimitRules(this.limits, [...this.models.values()])
    this.memory.changeSettings({ rules, starvationThresholdMs: startThreshold(limits) })
  }

  private reserve({ name, nodes, startsInMs, endsInMs }: Reserving): void {
    const { nowMs, settings } = this.memory
    const reservation = {
      id: name,
      project,
      nodes,
      startsMs: nowMs + startsInMs,
      endsMs: nowMs + endsInMs,
      hard: false,
    }
    this.memory.changeSettings({ reservations: [...settings.reservations, reservation] })
  }
}

const route = ({ policy }: PoolPlan) => ({ queue: 'default', pool: 'sim', policy, executor: 'simulated' })
