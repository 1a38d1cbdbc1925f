import { buildSchema, coerceInputValue, type GraphQLInputType } from 'graphql'
import { expect, test } from 'vitest'
import { coercerOf } from '../../src/graphql/coercer.ts'

const schema = buildSchema(`
  enum Colour { RED GREEN }
  scalar Anything
  input Box { name: String! size: Int = 3 colour: Colour inner: [Box!] tags: [[String]] any: Anything on: Boolean! = true one: One }
  input One @oneOf { a: Int b: Int }
  type Query { boxes(box: Box): Int }
`)
const boxType = schema.getType('Box') as GraphQLInputType

/** What graphql-js makes of the value; null: it is not valid. */
function byGraphql(value: unknown): unknown {
  const errors: unknown[] = []
  const coerced = coerceInputValue(value, boxType, (_path, _value, error) => errors.push(error))
  return errors.length > 0 ? null : { coerced }
}

function byCoercer(value: unknown): unknown {
  try {
    return { coerced: coercerOf(boxType)(value) }
  } catch {
    return null
  }
}

const valid: Readonly<Record<string, unknown>> = {
  null: null,
  'required fields alone': { name: 'a' },
  'every field': {
    name: 'a',
    size: 4,
    colour: 'RED',
    inner: [{ name: 'b' }],
    tags: [['x', null]],
    any: { x: 1 },
    on: false,
  },
  'a value for a list': { name: 'a', inner: { name: 'b', size: 1 }, tags: 'x' },
  'null for a default value': { name: 'a', size: null },
  'one of two fields': { name: 'a', one: { b: 1 } },
  'a field that is undefined': { name: 'a', colour: undefined },
}

const invalid: Readonly<Record<string, unknown>> = {
  'no object': 'a',
  'a list of objects': [{ name: 'a' }],
  'a required field left out': { size: 1 },
  'null for a required field': { name: null },
  'null for a required field with a default': { name: 'a', on: null },
  'null in a list without nulls': { name: 'a', inner: [null] },
  'a field of another type': { name: 'a', size: 1.5 },
  'an unknown value of an enum': { name: 'a', colour: 'BLUE' },
  'an unknown field': { name: 'a', weight: 1 },
  'a field named like a method': JSON.parse('{"name":"a","__proto__":{},"constructor":1}'),
  'two fields where one is allowed': { name: 'a', one: { a: 1, b: 1 } },
  'null for the only field allowed': { name: 'a', one: { a: null } },
  'no field where one is needed': { name: 'a', one: {} },
  'an unknown field deep inside': { name: 'a', inner: [{ name: 'b', weight: 1 }] },
}

test.each(Object.entries(valid))('takes %s as graphql-js does', (_, value) => {
  expect(byCoercer(value)).toEqual(byGraphql(value))
  expect(byCoercer(value)).not.toBeNull()
})

test.each(Object.entries(invalid))('leaves %s to graphql-js', (_, value) => {
  expect(byGraphql(value)).toBeNull()
  expect(byCoercer(value)).toBeNull()
})
