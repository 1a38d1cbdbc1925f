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
import { afterAll, beforeAll, expect, it } from 'vitest'
import { schema } from '../../../src/graphql/schema/schema.ts'
import { data } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

/** Each edge below a list of jobs: its number of statements does not grow with the rows. */
let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await submitJobs(server.domain, server.admin, Array(20).fill({ spec: { command: ['true'] } }))
})
afterAll(() => server[Symbol.asyncDispose]())

/** Each reads one log, and costs as much for each row. */
const priced = ['logs', 'logSearch', 'logGaps']

type Field = GraphQLField<unknown, unknown>

const fieldsOf = (type: GraphQLObjectType): Field[] =>
  Object.values(type.getFields()).filter(({ name, args }) => !priced.includes(name) && !args.some(isRequiredArgument))

const leavesOf = (type: GraphQLObjectType) =>
  fieldsOf(type).flatMap(({ name, type: given }) => (isLeafType(getNamedType(given)) ? [name] : []))

/** The field with all of its own leaves; null: its type has no leaves. */
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

/** Edges of a job, and those of the pool, the run and the other objects that it has. */
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

it.each(listEdges())('%s needs as many statements for 20 jobs as for 5', async (edge) => {
  const count = async (n: number) => {
    const statements = server.countStatements()
    const { jobs } = await data(server.url, `{ jobs(first: ${n}) { nodes { ${edge} } } }`)
    expect(jobs.nodes).toHaveLength(n)
    return statements.filter((text) => !/^(BEGIN|COMMIT)/.test(text)).length
  }
  const few = await count(5)
  expect(await count(20)).toBeLessThan(few + 5)
})
