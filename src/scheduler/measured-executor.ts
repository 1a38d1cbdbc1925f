import type { Executor } from '../executors/executor.ts'
import { defineCounter, defineHistogram, requestBuckets } from '../platform/metrics.ts'

const calls = defineCounter({
  name: 'berth_executor_calls_total',
  help: 'Calls of executors by outcome: ok or failed.',
  labelNames: ['executor', 'verb', 'outcome'],
})

const callTimes = defineHistogram({
  name: 'berth_executor_call_duration_seconds',
  help: 'Time of calls of executors.',
  labelNames: ['executor', 'verb'],
  buckets: requestBuckets,
})

const verbs = new Set<string | symbol>([
  'start',
  'find',
  'inspect',
  'stop',
  'forget',
  'list',
  'sample',
  'capacity',
  'silent',
  'describe',
])

export const measureExecutors = (executors: ReadonlyMap<string, Executor>): ReadonlyMap<string, Executor> =>
  new Map(Array.from(executors, ([name, executor]) => [name, measureExecutor(executor)]))

/** Counts the calls that return a promise. */
const measureExecutor = (executor: Executor): Executor =>
  new Proxy(executor, {
    get(target, verb) {
      const value: unknown = Reflect.get(target, verb)
      if (typeof value !== 'function') return value
      const call = (...args: unknown[]): unknown => value.apply(target, args)
      return verbs.has(verb)
        ? measured(target.name, String(verb), call as (...args: unknown[]) => Promise<unknown>)
        : call
    },
  })

function measured(executor: string, verb: string, call: (...args: unknown[]) => Promise<unknown>) {
  return async (...args: unknown[]): Promise<unknown> => {
    const end = callTimes.startTimer({ executor, verb })
    let outcome = 'failed'
    try {
      const result = await call(...args)
      outcome = 'ok'
      return result
    } finally {
      end()
      calls.inc({ executor, verb, outcome })
    }
  }
}
