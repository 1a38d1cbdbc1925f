import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { expect, it } from 'vitest'
import { schema } from '../../../src/graphql/schema/schema.ts'

/** A fragment selects a field without an alias, because its name has one type wherever fragments meet. */

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))

/** Returns what must be equal for two fields to be merged: lists, nulls, and the type of a value. */
const readShape = (type: GraphQLOutputType): string =>
  isLeafType(getNamedType(type)) ? String(type) : String(type).replace(/\w+/, 'object')

/** Groups the shapes of each field, with the members that have this shape. */
function groupShapes(members: readonly GraphQLObjectType[]): Map<string, Map<string, string[]>> {
  const fields = new Map<string, Map<string, string[]>>()
  for (const member of members)
    for (const { name, type } of Object.values(member.getFields())) {
      const shapes = fields.get(name) ?? new Map<string, string[]>()
      const shape = readShape(type)
      fields.set(name, shapes.set(shape, [...(shapes.get(shape) ?? []), member.name]))
    }
  return fields
}

/** Different nouns of objects that `node` finds. A fragment that selects two of them uses an alias. */
const nodeExceptions: Readonly<Record<string, string>> = {
  body: 'an artifact may be a link',
  detail: 'JSON of an audit entry; details of an event by its type',
  executors: 'names of a pool; backends of the system',
  expiresAt: 'tokens may last for ever',
  gpus: 'the few of a node; a list of all pools',
  job: 'a hold or a slot may have a job that you may not see, or none',
  name: 'a job may have no name',
  nodes: 'a list of the pool; the few of a run, a hold or a reservation',
  pool: 'a submission queue may have lost its pool',
  priority: 'of a job, set by a user or none; of an approval rule',
  project: 'a job may have no project',
  psijState: 'an event may leave it as it was',
  run: 'an event may be of no run',
  scopes: 'of a token; limits of the scopes of a pool',
  state: 'each noun has its states',
  type: 'kinds of events and of quotas',
}

it('a field has the same type in all members of an interface or a union', () => {
  const conflicts = types
    .filter(isAbstractType)
    .flatMap((abstract) =>
      [...groupShapes(schema.getPossibleTypes(abstract))].flatMap(([field, shapes]) =>
        shapes.size === 1 || (abstract.name === 'Node' && field in nodeExceptions)
          ? []
          : [
              `${abstract.name}.${field}: ${[...shapes].map(([shape, of]) => `${shape} of ${of.join(', ')}`).join('; ')}`,
            ],
      ),
    )
  expect(conflicts).toEqual([])
})

it.each(['action', 'queued', 'reason', 'running', 'scope', 'stateReason', 'version'])(
  'the field %s has the same type everywhere in the schema',
  (word) => {
    const found = types.filter(isObjectType).flatMap((type) => type.getFields()[word]?.type ?? [])
    expect(new Set(found.map((type) => String(getNullableType(type)))).size).toBe(1)
  },
)

it('expectedVersion has the same type everywhere as version', () => {
  const expected = types
    .filter(isInputObjectType)
    .flatMap((type) => Object.values(type.getFields()))
    .filter(({ name }) => name === 'expectedVersion')
  expect(expected.length).toBeGreaterThan(15)
  expect(new Set(expected.map(({ type }) => String(getNullableType(type))))).toEqual(new Set(['UInt53']))
})

it('every object type with an id implements Node', () => {
  const withId = types.filter(isObjectType).filter((type) => type.getFields()['id'] !== undefined)
  expect(withId.length).toBeGreaterThan(20)
  expect(withId.filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node')).map(String)).toEqual([])
})
