import { type NodeRowFragment, PoolNamesDocument, PoolNodesDocument } from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { exitCodes, Stop, seePools, usageError } from './exit.ts'
import { readEveryNode } from './pages.ts'

export async function findNodes(cli: Cli, pool: string | undefined): Promise<NodeRowFragment[]> {
  const chosen = (await poolsOf(cli)).filter(({ name }) => pool === undefined || name === pool)
  if (chosen.length === 0) throw poolNotFound(pool)
  const nodes: NodeRowFragment[] = []
  for (const { id } of chosen) nodes.push(...(await readEveryNode((page) => readPage(cli, { pool: id, ...page }))))
  return nodes
}

const poolsOf = async (cli: Cli) => (await cli.connection().request(PoolNamesDocument, {})).pools

async function readPage(cli: Cli, variables: { pool: string; first: number; after: string | null }) {
  const { node } = await cli.connection().request(PoolNodesDocument, variables)
  if (node?.__typename !== 'Pool') throw new Stop(exitCodes.notFound, 'the pool was removed')
  return node.nodes
}

/** The named pool, or the only pool. */
export async function resolvePool(cli: Cli, named: string | undefined): Promise<string> {
  if (named !== undefined) return named
  const pools = await poolsOf(cli)
  const [only] = pools
  if (!only || pools.length > 1)
    throw usageError('the pool is missing', `pass --pool: ${pools.map(({ name }) => name).join(', ')}`)
  return only.name
}

export function findNode(nodes: readonly NodeRowFragment[], said: string): NodeRowFragment {
  const found = nodes.filter(({ id, name }) => id === said || name === said)
  const [node] = found
  if (!node) throw nodeNotFound(said)
  if (found.length > 1) throw usageError(`${found.length} pools have a node ${said}`, 'pass --pool')
  return node
}

export const nodeNotFound = (name: string): Stop =>
  new Stop(exitCodes.notFound, `Node ${name} not found`, '"berth node ls" lists the nodes')

export const poolNotFound = (pool: string | undefined): Stop =>
  new Stop(exitCodes.notFound, pool === undefined ? 'No pool found' : `Pool ${pool} not found`, seePools)
