import { type NodeRowFragment, PoolNamesDocument, PoolNodesDocument } from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { exitCodes, Stop, usageError } from './exit.ts'
import { readEveryNode } from './pages.ts'

/** Finds nodes by name. The API knows them by id. */
export async function findNodes(cli: Cli, pool: string | undefined): Promise<NodeRowFragment[]> {
  const chosen = (await poolsOf(cli)).filter(({ name }) => pool === undefined || name === pool)
  if (chosen.length === 0) throw new Stop(exitCodes.notFound, `there is no pool ${pool ?? ''}`.trim())
  const lists = []
  for (const { id } of chosen) lists.push(await readEveryNode((page) => readPage(cli, { pool: id, ...page })))
  return lists.flat()
}

const poolsOf = async (cli: Cli) => (await cli.connection().request(PoolNamesDocument, {})).pools

async function readPage(cli: Cli, variables: { pool: string; first: number; after: string | null }) {
  const { node } = await cli.connection().request(PoolNodesDocument, variables)
  if (node?.__typename !== 'Pool') throw new Stop(exitCodes.notFound, 'the pool was removed')
  return node.nodes
}

/** The pool if none is named: the only one. */
export async function resolvePool(cli: Cli, named: string | undefined): Promise<string> {
  if (named !== undefined) return named
  const pools = await poolsOf(cli)
  const [only] = pools
  if (!only || pools.length > 1)
    throw usageError('the pool is missing', `give --pool: ${pools.map(({ name }) => name).join(', ')}`)
  return only.name
}

/** A node by its id or name; a name that two pools have needs the pool. */
export function findNode(nodes: readonly NodeRowFragment[], said: string): NodeRowFragment {
  const found = nodes.filter(({ id, name }) => id === said || name === said)
  const [node] = found
  if (!node) throw new Stop(exitCodes.notFound, `there is no node ${said}`, 'see "berth node ls"')
  if (found.length > 1) throw usageError(`${found.length} pools have a node ${said}`, 'give --pool')
  return node
}
