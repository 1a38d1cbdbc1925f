import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { beforeAll, expect, it } from 'vitest'
import { applyPools } from '../../../src/domain/machines/pools.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import { data } from '../../support/client.ts'
import { simNode } from '../../support/domain.ts'
import { openTestServer } from '../../support/server.ts'
import { submitJobs } from '../../support/submit-jobs.ts'
import { isWhole } from '../../support/whole.ts'

/** For each edge below a list of jobs, the number of statements must not grow with the rows. */
const jobs = isWhole ? 100 : 20
const server = await openTestServer()
beforeAll(async () => {
  const pools = Array.from({ length: 100 }, (_, n) => ({
    name: n === 0 ? 'sim' : `pool${n}`,
    policy: n % 2 ? ('FAIR_SHARE' as const) : ('PRIORITY' as const),
    executors: ['simulated'],
    relaxReplicas: true,
    nodes: [{ ...simNode, name: `node${n}` }],
  }))
  const queues = ['sim', 'pool1', 'pool10'].map((pool) => ({
    name: pool === 'sim' ? 'default' : pool,
    pool,
    native: {},
  }))
  await applyPools(server.domain, { pools, queues })
  await submitJobs(server.domain, server.admin, Array(jobs).fill({ spec: { command: ['true'] } }))
  // The five newest jobs are of three pools, as all jobs are.
  for (const queue of ['pool1', 'pool10', 'default'])
    await submitJobs(
      server.domain,
      server.admin,
      Array(queue === 'default' ? 1 : 2).fill({ spec: { command: ['true'], queue } }),
    )
})

/** Edges that need a statement for each row, and have a cost for each. */
const priced = ['logs', 'logSearch', 'logGaps']

type Field = GraphQLField<unknown, unknown>

const fieldsOf = (type: GraphQLObjectType): Field[] =>
  Object.values(type.getFields()).filter(({ name, args }) => !priced.includes(name) && !args.some(isRequiredArgument))

const leavesOf = (type: GraphQLObjectType) =>
  fieldsOf(type).flatMap(({ name, type: given }) => (isLeafType(getNamedType(given)) ? [name] : []))

/** Makes a selection of the field with all of its leaves; null: its type has no leaves. */
function selectLeaves({ name, type, args }: Field): string | null {
  const named = getNamedType(type)
  if (!isObjectType(named)) return isLeafType(named) ? name : null
  const isPage = args.some((each) => each.name === 'first')
  if (isPage) {
    const node = getNamedType(named.getFields()['nodes']?.type)
    return isObjectType(node) ? `${name}(first: 1) { nodes { ${leavesOf(node).join(' ')} } }` : null
  }
  const leaves = leavesOf(named).join(' ')
  return leaves && `${name} { ${leaves} }`
}

const isOne = ({ type }: Field) => isObjectType(getNamedType(type)) && !isListType(getNullableType(type))

/** Lists the edges of a job, and of its pool, its run and other objects to which it leads. */
function listEdges(): string[] {
  const job = schema.getType('Job') as GraphQLObjectType
  return fieldsOf(job).flatMap((field) => {
    const own = selectLeaves(field)
    const below = getNamedType(field.type)
    const nested =
      isOne(field) && isObjectType(below) && !below.name.endsWith('Connection')
        ? fieldsOf(below).flatMap((inner) => {
            const inside = isObjectType(getNamedType(inner.type)) ? selectLeaves(inner) : null
            return inside ? [`${field.name} { ${inside} }`] : []
          })
        : []
    return [...(own ? [own] : []), ...nested]
  })
}

async function countStatements(list: 'jobs' | 'pools', first: number, edge: string): Promise<number> {
  const statements = server.countStatements()
  const { [list]: page } = await data(server.url, `{ ${list}(first: ${first}) { nodes { ${edge} } } }`)
  expect(page.nodes).toHaveLength(first)
  return statements.filter((text) => !/^(BEGIN|COMMIT)/.test(text)).length
}

it.each(listEdges())(`the edge %s needs as many SQL statements for ${jobs} jobs as for 5`, async (edge) => {
  const few = await countStatements('jobs', 5, edge)
  const many = await countStatements('jobs', jobs, edge).catch((error: Error) => {
    // The cost of a query permits some edges for fewer jobs only.
    expect([jobs, error.message]).toEqual([100, expect.stringContaining('QUERY_TOO_COMPLEX')])
    return countStatements('jobs', 20, edge)
  })
  // A statement reads 16 specs.
  expect(many).toBeLessThan(few + 5 + (edge.startsWith('spec {') ? jobs / 16 : 0))
})

/** A list of pools reads all of them together. */
const poolEdges = fieldsOf(schema.getType('Pool') as GraphQLObjectType).flatMap((field) => selectLeaves(field) ?? [])

it.each([
  ...poolEdges,
  'workload { byUser { user { name } count } }',
  'workload { entries(first: 2) { nodes { id } totalCount } }',
  'workload { entries(first: 2, includeCompleted: true) { nodes { id } } }',
  'workload { byReason { code count } }',
  'limits { scopes { scope { name } jobsInUse } pool { name } }',
  'nodes(first: 2) { nodes { name capacity { gpu } gpus { index } runs(first: 1) { nodes { id } } } }',
])('the edge %s needs as many SQL statements for 20 pools as for 5', async (edge) => {
  const few = await countStatements('pools', 5, edge)
  expect(await countStatements('pools', 20, edge)).toBeLessThan(few + 5)
  // With more pools `byReason` would cost too much, once the server has counted them.
  expect(await countStatements('pools', 60, edge)).toBeLessThan(few + 5)
})

it('each pool returns only its own queue entries if a query reads several pools', async () => {
  const entries = 'workload { entries(first: 5) { edges { cursor node { id } } totalCount pageInfo { hasNextPage } } }'
  const { pools } = await data(server.url, `{ pools(first: 100) { nodes { name ${entries} } } }`)
  for (const [name, count] of [
    ['sim', 5],
    ['pool1', 2],
    ['pool10', 2],
    ['pool3', 0],
  ] as const) {
    const { pool } = await data(server.url, `{ pool(name: "${name}") { name ${entries} } }`)
    expect(pool.workload.entries.edges).toHaveLength(count)
    expect(pools.nodes).toContainEqual(pool)
  }
})
