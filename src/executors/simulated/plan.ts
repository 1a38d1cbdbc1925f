import { type Observation, type RunSpec, StartFailed } from '../executor.ts'

/**
 * The plan of a simulated run, which is its handle as JSON. Its state at any time is computed from the plan, the stops
 * and the time.
 */

export interface Plan {
  runId: string
  node: string | null
  /** Times are database times in ms since 1970. */
  runsAt: number
  endsAt: number
  exitCode: number
  lines: number
  ignoreTermMs: number
}

export interface PlannedStop {
  at: number
  graceMs: number
}

const TERM = 15
const KILL = 9

/** Throws StartFailed for the first SIM_START_FAILURES runs of a job. */
export function createPlan({ runId, number, nodes, spec, injected }: RunSpec, now: number): Plan {
  const environment = new Map([
    ...spec.environment.map(({ name, value }): [string, string] => [name, value]),
    ...Object.entries(injected),
  ])
  const amount = (name: string) => {
    const value = Number(environment.get(name) ?? 0)
    if (value >= 0 && Number.isFinite(value)) return value
    throw new StartFailed('BAD_SPEC', `${name} is ${environment.get(name)}, which is not a number of at least 0`)
  }
  if (number <= amount('SIM_START_FAILURES')) throw new StartFailed('START_FAILED', 'SIM_START_FAILURES')
  const runsAt = now + amount('SIM_START_SECONDS') * 1000
  return {
    runId,
    node: nodes[0] ?? null,
    runsAt,
    endsAt: runsAt + amount('SIM_RUN_SECONDS') * 1000,
    exitCode: Math.trunc(amount('SIM_EXIT_CODE')) % 256,
    lines: Math.trunc(amount('SIM_LOG_LINES')),
    ignoreTermMs: amount('SIM_IGNORE_TERM_SECONDS') * 1000,
  }
}

/** Returns null if the text is not a handle of this executor. */
export function parseHandle(handle: string): Plan | null {
  if (!handle.startsWith('{"runId":')) return null
  return JSON.parse(handle) as Plan
}

interface End {
  at: number
  exitCode: number
  signal: number | null
}

/**
 * Returns the end of the run: the earliest of the planned end, KILL after a grace period, and TERM once the run no
 * longer ignores it. Stops after the planned end are ignored.
 */
export function computeEnd(plan: Plan, stops: readonly PlannedStop[]): End & { stopped: boolean } {
  const natural: End = { at: plan.endsAt, exitCode: plan.exitCode, signal: null }
  const delivered = stops.filter(({ at }) => at < plan.endsAt)
  const ends = delivered.flatMap(({ at, graceMs }): End[] => {
    const kill = { at: at + graceMs, exitCode: 128 + KILL, signal: KILL }
    const ignoresMs = at < plan.runsAt ? 0 : plan.ignoreTermMs
    return graceMs > 0 ? [kill, { at: at + ignoresMs, exitCode: 128 + TERM, signal: TERM }] : [kill]
  })
  const first = [natural, ...ends].reduce((best, end) => (end.at < best.at ? end : best))
  return { ...first, stopped: delivered.some(({ at }) => at <= first.at) }
}

export function observePlan(plan: Plan, stops: readonly PlannedStop[], now: number): Observation {
  const { at, stopped, exitCode, signal } = computeEnd(plan, stops)
  if (now < at) {
    if (now < plan.runsAt) return { state: 'starting', info: 'SIM_START_SECONDS' }
    return { state: 'running', startedAt: new Date(plan.runsAt), nativeId: plan.runId }
  }
  const times = { ...(at >= plan.runsAt ? { startedAt: new Date(plan.runsAt) } : {}), finishedAt: new Date(at) }
  return { state: 'ended', exitCode, signal, stopped, nativeId: plan.runId, ...times }
}

/** Returns the next time after `now` at which the run begins or ends; null: it has ended. */
export function findNextChange(plan: Plan, stops: readonly PlannedStop[], now: number): number | null {
  const { at } = computeEnd(plan, stops)
  if (now >= at) return null
  return now < plan.runsAt && plan.runsAt < at ? plan.runsAt : at
}
