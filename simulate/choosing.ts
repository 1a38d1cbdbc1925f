import { isFinal, isHolding } from '../src/domain/state.ts'
import type { Report } from '../src/scheduler/outcome.ts'
import { type Action, type Asks, accounts, type Person, people, type Seen, type SeenJob } from './actions.ts'
import { randomLimits, randomModel, randomNode, randomPlanning } from './plans.ts'
import type { Random } from './random.ts'

const jobsAliveMax = 60
/** More than the window of a lane holds. */
const alikeMax = 40
const nodesMax = 6
const nothing: Action = { kind: 'NOTHING' }
const waits = ({ state }: SeenJob) => state === 'QUEUED' || state === 'BLOCKED'

/** Submits one job, or more equal jobs than the window of a lane holds. In a long queue, cancels a job instead. */
function submit(seen: Seen, random: Random): Action {
  if (seen.jobs.length >= jobsAliveMax) return cancelAlike(seen, random)
  return { kind: 'SUBMIT', asks: randomAsks(seen, random), times: random.chance(0.02) ? alikeMax : 1 }
}

function cancelAlike({ jobs }: Seen, random: Random): Action {
  const job = random.pick(jobs.filter(waits))
  return job ? { kind: 'CANCEL', job: job.id } : nothing
}

function randomAsks({ jobs, reservations }: Seen, random: Random): Asks {
  const interactive = random.chance(0.08)
  const gpu = random.of([0, 0, 1, 1, 2, 4, 8, 16])
  const runSeconds = random.of([0, 5, 60, 600])
  const earlier = random.chance(0.1) ? random.pick(jobs) : undefined
  const first = reservations[0]
  return {
    by: random.pick(Object.keys(people) as Person[]) ?? 'ada',
    account: random.of(accounts),
    bid: random.between(0, 3),
    interactive,
    preemptable: !interactive && random.chance(0.5),
    restartable: !interactive && random.chance(0.4),
    gpu,
    gpuModel: gpu > 0 && random.chance(0.15) ? random.of(['v100', '!p100']) : null,
    cpu: random.of([0.5, 1, 2, 5]),
    infiniband: gpu > 1 && random.chance(0.2),
    copies: random.chance(0.1) ? 2 : 1,
    maxRunTimeSeconds: random.chance(0.5) ? runSeconds * 2 : 0,
    runSeconds,
    eligibleInMs: random.chance(0.1) ? random.between(1, 120_000) : 0,
    needsApproval: random.chance(0.1),
    after: earlier ? [earlier.id] : [],
    reservation: first !== undefined && random.chance(0.3) ? first : null,
  }
}

function cancel({ jobs }: Seen, random: Random): Action {
  const job = random.pick(jobs)
  return job ? { kind: 'CANCEL', job: job.id } : nothing
}

function decide({ jobs }: Seen, random: Random): Action {
  const job = jobs.find(({ state }) => state === 'BLOCKED')
  return job ? { kind: 'DECIDE', job: job.id, approve: random.chance(0.7) } : nothing
}

function prioritise({ jobs }: Seen, random: Random): Action {
  const job = random.pick(jobs.filter(waits))
  return job ? { kind: 'PRIORITISE', job: job.id, priority: random.between(0, 50) } : nothing
}

/** Reports may be missing, repeated, or about the previous run. */
function report({ jobs, nowMs }: Seen, random: Random): Action {
  const job = random.pick(jobs.filter(({ state }) => isHolding(state)))
  if (!job) return nothing
  if (job.leaves === 'ASKED' && random.chance(0.7)) return { kind: 'LEAVE', job: job.id }
  const run = job.run > 1 && random.chance(0.03) ? job.run - 1 : job.run
  return {
    kind: 'REPORT',
    job: job.id,
    run,
    report: chooseReport(job, nowMs, random),
    times: random.chance(0.1) ? 2 : 1,
  }
}

export function chooseReport({ state, leaves, endsMs }: SeenJob, nowMs: number, random: Random): Report {
  if (state === 'STARTING') {
    if (random.chance(0.05)) return { kind: 'startFailed', reason: 'START_FAILED', message: 'No' }
    if (random.chance(0.05)) return { kind: 'startFailed', reason: 'NODE_TROUBLE', message: 'No space' }
    return { kind: 'seen', observation: { state: 'running' } }
  }
  const stopped = state === 'CANCELLING' || leaves === 'SIGNALLED'
  if (random.chance(0.03)) return { kind: 'seen', observation: { state: 'gone' } }
  if (!stopped && endsMs !== null && endsMs > nowMs) return { kind: 'seen', observation: { state: 'running' } }
  const exitCode = random.of([0, 0, 1, 143])
  return { kind: 'seen', observation: { state: 'ended', exitCode, signal: null, stopped } }
}

function machines({ jobs, nodes }: Seen, random: Random): Action {
  const lost = nodes.some(({ state }) => state === 'LOST')
  if (lost && random.chance(0.5)) return { kind: 'FIND' }
  if (random.chance(0.2)) {
    const job = random.pick(jobs.filter(({ state }) => isHolding(state)))
    return job ? { kind: 'LOSE', job: job.id, run: job.run } : nothing
  }
  if (nodes.length < nodesMax && random.chance(0.2))
    return { kind: 'ADD_NODE', node: randomNode(`n${nodes.length}`, random) }
  const node = random.pick(nodes.filter(({ state }) => state !== 'LOST'))
  if (node && random.chance(0.1)) return { kind: 'SILENCE', name: node.name }
  return node
    ? { kind: 'NODE', name: node.name, state: random.of(['READY', 'READY', 'CORDONED', 'DRAINING']) }
    : nothing
}

function settings(seen: Seen, random: Random): Action {
  const what = random.next()
  if (what < 0.4) return { kind: 'LIMITS', limits: randomLimits(random), model: randomModel(random) }
  if (what < 0.7) return { kind: 'PLAN', planning: randomPlanning(random) }
  return reserve(seen, random)
}

/** At most one reservation exists at a time. */
function reserve({ nodes, reservations, nowMs }: Seen, random: Random): Action {
  const node = random.pick(nodes)
  if (!node || reservations.length > 0) return nothing
  const startsInMs = random.of([1_000, 60_000, 400_000])
  const endsInMs = startsInMs + random.of([60_000, 900_000])
  return { kind: 'RESERVE', reserving: { name: `for-${nowMs}`, nodes: [node.name], startsInMs, endsInMs } }
}

const passTime = (_: Seen, random: Random): Action => ({ kind: 'TIME', ms: random.of([10, 1_000, 30_000, 300_000]) })

type Choice = (seen: Seen, random: Random) => Action

const choices: readonly [Choice, number][] = [
  [submit, 30],
  [report, 42],
  [passTime, 12],
  [cancel, 4],
  [decide, 4],
  [prioritise, 3],
  [machines, 4],
  [settings, 1.5],
]
const total = choices.reduce((sum, [, weight]) => sum + weight, 0)

export function choose(seen: Seen, random: Random): Action {
  let at = random.next() * total
  for (const [choice, weight] of choices) {
    at -= weight
    if (at < 0) return choice(seen, random)
  }
  return nothing
}

/** Lists actions that end preempted and cancelled runs. */
export function listEndings({ jobs }: Seen): Action[] {
  return jobs.flatMap((job): Action[] => {
    if (isFinal(job.state) || !isHolding(job.state) || (job.state !== 'CANCELLING' && job.leaves === null)) return []
    const observation = { state: 'ended', exitCode: 143, signal: null, stopped: true } as const
    const end: Action = {
      kind: 'REPORT',
      job: job.id,
      run: job.run,
      report: { kind: 'seen', observation },
      times: 1,
    }
    return job.leaves === 'ASKED' ? [{ kind: 'LEAVE', job: job.id }, end] : [end]
  })
}
