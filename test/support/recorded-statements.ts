import type { Db } from '../../src/platform/db.ts'

interface Statement {
  text?: string
}

type Query = (...args: unknown[]) => unknown

/** Lists that record the statements of a pool, whose connections outlive a server. */
const recorders = new WeakMap<Db['pool'], Set<string[]>>()

/** Every statement uses a client of the pool, including Prisma's. */
function recordersOf(pool: Db['pool']): Set<string[]> {
  const known = recorders.get(pool)
  if (known) return known
  const lists = new Set<string[]>()
  recorders.set(pool, lists)
  const recorded = new WeakSet<object>()
  pool.on('acquire', (client) => {
    if (recorded.has(client)) return
    recorded.add(client)
    const queries = client as unknown as { query: Query }
    const query = queries.query.bind(client)
    queries.query = (...args) => {
      const [first] = args
      const text = typeof first === 'string' ? first : (first as Statement).text
      for (const list of lists) list.push(text ?? '')
      return query(...args)
    }
  })
  return lists
}

/** Each call of `begin` starts a list of the following statements, until `end`. */
export function recordStatements(pools: readonly Db['pool'][]) {
  const begun: string[][] = []
  return {
    begin(): string[] {
      const list: string[] = []
      begun.push(list)
      for (const pool of pools) recordersOf(pool).add(list)
      return list
    },
    end() {
      for (const list of begun) for (const pool of pools) recordersOf(pool).delete(list)
    },
  }
}
