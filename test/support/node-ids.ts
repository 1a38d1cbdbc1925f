import type { Db } from '../../src/platform/db.ts'

/** Ids of the nodes with these names, in their order. */
export async function nodeIds({ prisma }: Pick<Db, 'prisma'>, ...names: string[]): Promise<string[]> {
  const nodes = await prisma.poolNode.findMany({ where: { name: { in: names } } })
  return names.map((name) => nodes.find((each) => each.name === name)?.id ?? name)
}
