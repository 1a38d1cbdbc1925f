import type { Domain } from '../domain.ts'
import type { EngineCheck } from '../engine-check.ts'
import { InvalidInput } from '../errors.ts'

/** Container engines of nodes, each on its own machine. */

/** Throws InvalidInput with the remedy if the server does not reach the engine. */
export async function demandEngine({ checkEngine }: Domain, address: string): Promise<EngineCheck> {
  if (!checkEngine) throw InvalidInput.at('engine', 'This server reaches no machines; ask one that schedules')
  const answer = await checkEngine(address)
  if ('refusal' in answer) throw InvalidInput.at('engine', answer.refusal)
  return answer
}

export async function readEngines({ db }: Pick<Domain, 'db'>, pool: string): Promise<ReadonlyMap<string, string>> {
  const where = { poolName: pool, engine: { not: null } }
  const nodes = await db.prisma.poolNode.findMany({ where, select: { name: true, engine: true } })
  return new Map(nodes.map(({ name, engine }) => [name, engine ?? '']))
}
