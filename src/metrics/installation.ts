import { readConditionValues } from '../domain/conditions/active-conditions.ts'
import type { Domain } from '../domain/domain.ts'
import { countReasons } from '../domain/queue/reason-counts.ts'
import { holdingStates, type JobState } from '../domain/state.ts'
import { defineGauge } from '../platform/metrics.ts'
import type { Parts } from '../platform/parts.ts'
import { readInstallation } from './read-installation.ts'

/**
 * Gauges of the whole installation. Each process reads the database for a scrape, at most once in `freshMs`. All
 * processes report the same numbers, so queries take their maximum.
 */
const freshMs = 5_000

export const openStates: readonly JobState[] = ['BLOCKED', 'QUEUED', ...holdingStates]
const nodeStates = ['READY', 'CORDONED', 'DRAINING', 'LOST'] as const

type Series = readonly [labels: Readonly<Record<string, string>>, value: number]

type Numbers = Awaited<ReturnType<typeof readNumbers>>

interface GaugeOptions {
  name: string
  help: string
  labelNames?: readonly string[]
  list: (numbers: Numbers) => readonly Series[]
}

let source: (() => Promise<Numbers | null>) | null = null

/** Serves the gauges of this installation until its components end. */
export function startInstallationMetrics({ db, clock, log }: Domain, down: Parts): void {
  let last: { atMs: number; read: Promise<Numbers | null> } | null = null
  const read = () =>
    readNumbers(db.sql).catch((error: unknown) => {
      log.warn({ err: error }, 'the metrics of the installation cannot be read')
      return null
    })
  const own = () => {
    if (last === null || clock.monotonicMs() - last.atMs >= freshMs) last = { atMs: clock.monotonicMs(), read: read() }
    return last.read
  }
  source = own
  down.push(async () => {
    if (source === own) source = null
  })
}

async function readNumbers(sql: Domain['db']['sql']) {
  const [installation, reasons, conditions] = await Promise.all([
    readInstallation(sql),
    readReasons(sql),
    readConditionValues(sql),
  ])
  return { ...installation, reasons, conditions }
}

async function readReasons(sql: Domain['db']['sql']) {
  const pools = await sql.query<{ name: string }>('SELECT name FROM pool', [], 'pool_names')
  return countReasons(
    sql,
    pools.map(({ name }) => name),
  )
}

function define({ list, labelNames = [], ...options }: GaugeOptions): void {
  defineGauge<string>({
    ...options,
    labelNames,
    // Without the database the series are absent, because an old value would look current.
    async collect() {
      const numbers = source === null ? null : await source()
      this.reset()
      if (numbers !== null) for (const [labels, value] of list(numbers)) this.set(labels, value)
      else if (labelNames.length === 0) this.remove()
    },
  })
}

const perPool =
  (read: (pool: Numbers['pools'][number]) => number | null) =>
  ({ pools }: Numbers): Series[] =>
    pools.flatMap((each) => {
      const value = read(each)
      return value === null ? [] : [[{ pool: each.pool }, value]]
    })

/** A series for each pool and name, with the default 0, so that queries always find a value. */
const perPoolAnd =
  (
    label: string,
    names: readonly string[],
    read: (pool: Numbers['pools'][number]) => Readonly<Record<string, number>>,
  ) =>
  ({ pools }: Numbers): Series[] =>
    pools.flatMap((each) => names.map((name): Series => [{ pool: each.pool, [label]: name }, read(each)[name] ?? 0]))

defineGauge<never>({
  name: 'berth_database_up',
  help: '1: the database answered when the metrics were read.',
  async collect() {
    this.set(source !== null && (await source()) !== null ? 1 : 0)
  },
})
define({
  name: 'berth_jobs',
  help: 'Jobs that have not ended, by pool and state.',
  labelNames: ['pool', 'state'],
  list: perPoolAnd('state', openStates, ({ jobs }) => jobs),
})
define({
  name: 'berth_waiting_jobs',
  help: 'Waiting jobs by the reason why they wait; reasons without jobs are missing.',
  labelNames: ['pool', 'reason'],
  list: ({ reasons }) => reasons.map(({ pool, code, count }) => [{ pool, reason: code }, count]),
})
define({
  name: 'berth_oldest_wait_seconds',
  help: 'How long the oldest job has waited that may start; without such a job 0.',
  labelNames: ['pool'],
  list: perPool(({ oldestWaitSeconds }) => oldestWaitSeconds ?? 0),
})
define({
  name: 'berth_nodes',
  help: 'Nodes by pool and state.',
  labelNames: ['pool', 'state'],
  list: perPoolAnd('state', nodeStates, ({ nodes }) => nodes),
})

const kinds = [
  ['capacity', 'of nodes that are READY'],
  ['allocated', 'that runs hold'],
  ['wanted', 'that waiting jobs request which could start now, as far as the scheduler has seen them'],
] as const
for (const [kind, whose] of kinds) {
  const amount = (resource: 'cpus' | 'memory_bytes' | 'gpus', thing: string) =>
    define({
      name: `berth_${kind}_${resource}`,
      help: `${thing} ${whose}.`,
      labelNames: ['pool'],
      list: perPool((pool) => pool[kind][resource]),
    })
  amount('cpus', 'Processors')
  amount('memory_bytes', 'Memory')
  amount('gpus', 'GPUs')
}

define({
  name: 'berth_feed_lag_seconds',
  help: 'Age of the oldest event that waits for its position in the feed, which subscribers cannot read yet; else 0.',
  list: ({ feedLagSeconds }) => [[{}, feedLagSeconds]],
})
define({
  name: 'berth_webhook_backlog',
  help: 'Deliveries that wait for their first or next try, by webhook.',
  labelNames: ['webhook'],
  list: ({ webhooks }) => webhooks.map(({ name, waiting }) => [{ webhook: name }, waiting]),
})
define({
  name: 'berth_condition',
  help: '1: the condition holds, and `berth doctor` says what to do; else 0.',
  labelNames: ['condition'],
  list: ({ conditions }) => Array.from(conditions, ([condition, value]) => [{ condition }, value]),
})
