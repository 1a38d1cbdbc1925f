import type { Executor } from '../../src/executors/executor.ts'

const verbs = [
  'start',
  'find',
  'inspect',
  'logs',
  'stop',
  'watch',
  'forget',
  'list',
  'sweep',
  'sample',
  'capacity',
  'silent',
  'describe',
  'close',
] as const satisfies readonly (keyof Executor)[]

/** The bound methods of an executor as a plain object, for tests that replace some of them. */
export function bindVerbs(executor: Executor): Executor {
  const bound = verbs.flatMap((verb) => (executor[verb] ? [[verb, executor[verb].bind(executor)]] : []))
  return { name: executor.name, ...Object.fromEntries(bound) }
}
