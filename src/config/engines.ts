import { type ExecutorName, executorNames, findTraits } from '../domain/executors.ts'
import { isEngineHere, isTcp } from './engine-address.ts'
import type { NodeEntry } from './file.ts'
import type { ConfigProblem } from './value.ts'

/** Checks `engine:` of nodes, which combines several machines with Docker or Podman into one pool. */

export const hasEngines = (nodes: readonly { engine?: unknown }[] = []): boolean =>
  nodes.some(({ engine }) => engine !== undefined)

type EngineKeys = Pick<NodeEntry, 'engine' | 'tls' | 'data'>

type Problem = readonly [key: string, reason: string, remedy: string]

export function checkEngines(
  nodes: readonly EngineKeys[],
  executors: readonly ExecutorName[],
  path: string,
): ConfigProblem[] {
  return nodes.flatMap((node, index) => {
    const { engine, tls } = node
    const isFirst = nodes.findIndex((other) => other.engine === engine) === index
    const problem =
      engine === undefined ? withoutEngine(node, hasEngines(nodes)) : withEngine(engine, { tls, executors, isFirst })
    const [key, reason = '', remedy = ''] = problem ?? []
    return key === undefined ? [] : [{ path: `${path}[${index}].${key}`, reason, remedy }]
  })
}

function withoutEngine({ tls, data }: EngineKeys, othersHave: boolean): Problem | null {
  if (othersHave) return ['engine', 'is missing: other nodes of the pool have one', 'name the engine of each node']
  const unused = tls ? 'tls' : data ? 'data' : null
  return unused && [unused, 'is used only with engine', 'remove it, or name the engine']
}

interface Known {
  tls: NodeEntry['tls']
  executors: readonly ExecutorName[]
  /** Whether no earlier node has the same engine. */
  isFirst: boolean
}

function withEngine(engine: string, { tls, executors, isFirst }: Known): Problem | null {
  const taking = executorNames.filter((name) => findTraits(name).takesEngines).join(' or ')
  if (executors.length !== 1 || !executors.every((name) => findTraits(name).takesEngines))
    return ['engine', `is not used by ${executors.join(', ')}`, `set "executor: ${taking}" in the pool`]
  if (!isFirst) return ['engine', `${engine} is the engine of another node`, 'name each engine once']
  if (tls && !isTcp(engine)) return ['tls', `is not used with ${engine}`, 'remove it, or use tcp://']
  if (tls || !isTcp(engine) || isEngineHere(engine)) return null
  const reason = 'is missing: a program that reaches an engine without TLS is root on its machine'
  return ['tls', reason, 'name ca, cert and key, or use ssh://']
}
