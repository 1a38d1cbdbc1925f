import {
  GpusDocument,
  type GpusQuery,
  type NodeRowFragment,
  PoolNamesDocument,
  PoolNodesDocument,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, seePools, usageError } from '../frame/exit.ts'
import { readEveryNode } from './pages.ts'

export async function findNodes(cli: Cli, pool: string | undefined): Promise<NodeRowFragment[]> {
  const names = pool === undefined ? await readPoolNames(cli) : [pool]
  if (names.length === 0) throw poolNotFound(pool)
  const nodes: NodeRowFragment[] = []
  for (const name of names) nodes.push(...(await readEveryNode((page) => readPage(cli, { pool: name, ...page }))))
  return nodes
}

export async function readPoolNames(cli: Cli): Promise<string[]> {
  const { pools } = await cli.connection().request(PoolNamesDocument, {})
  return pools.nodes.map(({ name }) => name)
}

async function readPage(cli: Cli, variables: { pool: string; first: number; after: string | null }) {
  const { pool } = await cli.connection().request(PoolNodesDocument, variables)
  if (!pool) throw poolNotFound(variables.pool)
  return pool.nodes
}

/** Returns the named pool or, without a name, the only pool. */
export async function resolvePool(cli: Cli, named: string | undefined): Promise<string> {
  if (named !== undefined) return named
  const names = await readPoolNames(cli)
  const [only] = names
  if (only === undefined || names.length > 1)
    throw usageError('the pool is missing', `pass --pool: ${names.join(', ')}`)
  return only
}

export function findNode(nodes: readonly NodeRowFragment[], given: string): NodeRowFragment {
  const found = nodes.filter(({ id, name }) => id === given || name === given)
  const [node] = found
  if (!node) throw nodeNotFound(given)
  if (found.length > 1) throw usageError(`${found.length} pools have a node ${given}`, 'pass --pool')
  return node
}

export const nodeNotFound = (name: string): Stop =>
  new Stop(exitCodes.notFound, `Node ${name} not found`, '"berth node ls" lists the nodes')

export const poolNotFound = (pool: string | undefined): Stop =>
  new Stop(exitCodes.notFound, pool === undefined ? 'No pool found' : `Pool ${pool} not found`, seePools)

export type ListedGpu = GpusQuery['system']['gpus']['nodes'][number]

export const readGpus = (cli: Cli): Promise<ListedGpu[]> =>
  readEveryNode(async (page) => (await cli.connection().request(GpusDocument, page)).system.gpus)
