import fc from 'fast-check'
import {
  buildSchema,
  coerceInputValue,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type OperationDefinitionNode,
  parse,
} from 'graphql'
import { expect, test } from 'vitest'
import { getCoercer } from '../../../src/graphql/admission/coercion.ts'
import { coerceVariables } from '../../../src/graphql/admission/variables.ts'
import { schema as product } from '../../../src/graphql/schema/schema.ts'

const schema = buildSchema(`
  enum Colour { RED GREEN }
  scalar Anything
  input Box { name: String! size: Int = 3 colour: Colour inner: [Box!] tags: [[String]] any: Anything on: Boolean! = true one: One }
  input One @oneOf { a: Int b: Int }
  input Odd { constructor: Int! }
  type Query { boxes(box: Box): Int }
`)
const boxType = schema.getType('Box') as GraphQLInputType

/** Coerces a value by graphql-js; null: invalid. */
function byGraphql(value: unknown, type = boxType): { coerced: unknown } | null {
  const errors: unknown[] = []
  const coerced = coerceInputValue(value, type, (_path, _value, error) => errors.push(error))
  return errors.length > 0 ? null : { coerced }
}

function byCoercer(value: unknown, type = boxType): { coerced: unknown } | null {
  try {
    return { coerced: getCoercer(type)(value) }
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
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

test.each(Object.entries(valid))('the fast coercion of %s has the same result as graphql-js', (_, value) => {
  expect(byCoercer(value)).toStrictEqual(byGraphql(value))
  expect(byCoercer(value)).not.toBeNull()
})

test.each(Object.entries(invalid))('the fast coercion passes %s to graphql-js', (_, value) => {
  expect(byGraphql(value)).toBeNull()
  expect(byCoercer(value)).toBeNull()
})

test('the fast coercion passes an input to graphql-js if a required field named like a method is missing', () => {
  expect(byCoercer({}, schema.getType('Odd') as GraphQLInputType)).toBeNull()
})

test('the fast coercion rethrows an unexpected error of a scalar', async () => {
  const broken = buildSchema('scalar Broken type Query { ask(it: Broken): Int }')
  const scalar = broken.getType('Broken') as GraphQLScalarType
  scalar.parseValue = () => {
    throw new TypeError('a defect')
  }
  const [operation] = parse('query ($it: Broken) { ask(it: $it) }').definitions
  const coerced = coerceVariables(broken, operation as OperationDefinitionNode, { it: 1 })
  await expect(coerced).rejects.toThrow(TypeError)
})

/** Special values of some types. */
const odd = fc.constantFrom<unknown>(
  ...[null, undefined, '', 'x', 0, -1, 1.5, 2 ** 31, 2 ** 53, Number.NaN, true, [], [null], [[]], {}],
  JSON.parse('{ "__proto__": {}, "constructor": 1 }'),
)

const ofScalar: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  Boolean: fc.boolean(),
  Int: fc.integer(),
  Float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  String: fc.string(),
  ID: fc.oneof(fc.string(), fc.integer()),
  Cursor: fc.string(),
  DateTime: fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+02:00'),
  UInt53: fc.maxSafeNat(),
  JSONObject: fc.dictionary(fc.string(), fc.jsonValue()),
}

/** Generates values of a type, some with an invalid part. */
function valuesOf(type: GraphQLInputType, depth = 3): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return valuesOf(type.ofType, depth)
  const right = isListType(type)
    ? fc.oneof(fc.array(valuesOf(type.ofType, depth - 1), { maxLength: 3 }), valuesOf(type.ofType, depth - 1))
    : isInputObjectType(type)
      ? objectsOf(type, depth)
      : isEnumType(type)
        ? fc.constantFrom(...type.getValues().map(({ name }) => name))
        : (ofScalar[type.name] ?? fc.constant(`no values of ${type.name}`))
  return fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: odd })
}

/** Generates objects with the required fields and a few others, rarely an unknown one. */
function objectsOf(type: GraphQLInputObjectType, depth: number): fc.Arbitrary<unknown> {
  const fields = Object.values(type.getFields())
  const required = fields.filter(isRequiredInputField)
  const optional = fields.filter((field) => !isRequiredInputField(field))
  const maxLength = Math.min(optional.length, depth > 0 ? 4 : 0)
  const few = type.isOneOf ? { minLength: 1, maxLength: 2 } : { maxLength }
  const known = fc
    .subarray(optional, few)
    .chain((chosen) =>
      fc.record(
        Object.fromEntries([...required, ...chosen].map((field) => [field.name, valuesOf(field.type, depth - 1)])),
      ),
    )
  return fc.oneof(
    { weight: 40, arbitrary: known },
    { weight: 1, arbitrary: known.map((it) => ({ ...it, unknown: 1 })) },
  )
}

const inputTypes = Object.values(product.getTypeMap()).filter((type) => isInputType(type))

test.each(inputTypes.map((type) => [type.name, type] as const))(
  'the fast coercion of random values of %s has the same result as graphql-js',
  (_, type) => {
    let validCount = 0
    fc.assert(
      fc.property(valuesOf(type), (value) => {
        const expected = byGraphql(value, type)
        expect(byCoercer(value, type)).toStrictEqual(expected)
        if (expected) validCount += 1
      }),
      { seed: 1, numRuns: 60 },
    )
    expect(validCount).toBeGreaterThan(10)
  },
)
