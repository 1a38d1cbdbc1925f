import { type ExecutorName, executorDefault, executorsDefault, findTraits } from '../domain/executors.ts'
import { isEngineHere } from './engine-address.ts'
import { checkEngines, hasEngines } from './engines.ts'
import type { ConfigFile, PoolEntry } from './file.ts'
import { findDuplicates } from './keys.ts'
import type { ConfigProblem } from './value.ts'

export const listPoolExecutors = (pool: PoolEntry): readonly ExecutorName[] =>
  pool.executors ?? (pool.executor ? [pool.executor] : executorsDefault)

export function checkPool(pool: PoolEntry, index: number): ConfigProblem[] {
  const at = (key: string, reason: string, remedy: string) => ({ path: `pools[${index}].${key}`, reason, remedy })
  const executors = listPoolExecutors(pool)
  const problems: ConfigProblem[] = findDuplicates(`pools[${index}].nodes`, pool.nodes ?? [])
  if (pool.executor && pool.executors)
    problems.push(at('executor', 'cannot be combined with executors', 'keep one of the two'))
  if (executors.length === 0) problems.push(at('executors', 'is empty', 'name at least one executor'))
  if (new Set(executors).size < executors.length)
    problems.push(at('executors', 'names an executor twice', 'name each once'))
  const executor = executors.find((name) => !sharesMachine(name)) ?? executors[0] ?? executorDefault
  if (!sharesMachine(executor) && new Set(executors).size > 1)
    problems.push(at('executors', `${executor} must be the only executor of a pool`, 'define another pool for it'))
  const isShared = executors.some((name) => findTraits(name).needsSharedDir)
  if (isShared && pool.sharedDir === undefined)
    problems.push(
      at('sharedDir', 'is missing', `name the folder that the cluster and this machine share, for ${executor}`),
    )
  if (!isShared && pool.sharedDir !== undefined)
    problems.push(at('sharedDir', `is not used by a pool with ${executors.join(', ')}`, 'remove it'))
  problems.push(...checkEngines(pool.nodes ?? [], executors, `pools[${index}].nodes`))
  const wrong = hasEngines(pool.nodes) ? null : wrongNodes(executor, pool.nodes)
  if (wrong) problems.push(at('nodes', ...wrong))
  return problems
}

/** Rejects a `jobsHost` that shares its name with the console, because pages of jobs must have another origin. */
export function checkJobsHost({ server: { jobsHost, publicUrl } }: ConfigFile): ConfigProblem[] {
  const name = publicUrl === undefined ? '' : new URL(publicUrl).hostname
  if (jobsHost === undefined || (name !== jobsHost && !name.endsWith(`.${jobsHost}`))) return []
  const reason = 'must be neither the name of server.publicUrl nor above it'
  return [{ path: 'server.jobsHost', reason, remedy: 'for example jobs.example.org beside berth.example.org' }]
}

/** Requires `publicUrl` if jobs run on other machines, which cannot reach the address that the server listens on. */
export function checkPublicUrl({ pools, server }: ConfigFile): ConfigProblem[] {
  if (server.tls && !server.publicUrl?.startsWith('https:'))
    return [
      {
        path: 'server.publicUrl',
        reason: 'is missing or not https: jobs and people reach a server with TLS by the name in its certificate',
        remedy: 'for example https://berth.example.org:4000',
      },
    ]
  const needs = pools.flatMap(listPoolExecutors).find((name) => findTraits(name).needsPublicUrl)
  const isAway = pools.some(({ nodes = [] }) => nodes.some(({ engine }) => engine && !isEngineHere(engine)))
  if ((!needs && !isAway) || server.publicUrl !== undefined) return []
  const jobs = needs ? `jobs of the executor ${needs}` : 'jobs on other machines'
  const reason = `is missing: ${jobs} need an address of the server`
  return [{ path: 'server.publicUrl', reason, remedy: 'for example https://berth.example.org' }]
}

const sharesMachine = (executor: ExecutorName) => findTraits(executor).nodes === 'MACHINE'

function wrongNodes(executor: ExecutorName, nodes: PoolEntry['nodes']): [reason: string, remedy: string] | null {
  const { nodes: source } = findTraits(executor)
  switch (source) {
    case 'MACHINE':
      if (!nodes || nodes.length === 1) return null
      return [`a ${executor} pool is one machine, not ${nodes.length}`, 'declare one node, or none']
    case 'DECLARED':
      if (nodes?.length) return null
      return [`a ${executor} pool needs declared nodes`, 'declare at least one node']
    case 'BACKEND':
      return nodes ? [`the backend ${executor} reports the nodes of its pool`, 'remove them'] : null
    default:
      return source satisfies never
  }
}
