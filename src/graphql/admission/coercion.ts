import {
  GraphQLError,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNonNull,
  type GraphQLNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'

/**
 * Coerces valid values faster than graphql-js, which visits every field of an input type: a submission omits nearly all
 * of its 60 fields. This coercer visits only the fields of the value. It throws for an invalid value; then graphql-js
 * determines the message.
 */
export type Coercer = (value: unknown) => unknown

const invalid = () => new GraphQLError('The value is not valid')

const coercers = new WeakMap<GraphQLInputType, Coercer>()

export function getCoercer(type: GraphQLInputType): Coercer {
  const known = coercers.get(type)
  if (known) return known
  const made = isNonNullType(type) ? nonNull(getCoercer(type.ofType)) : nullable(type)
  coercers.set(type, made)
  return made
}

const nonNull =
  (coerce: Coercer): Coercer =>
  (value) => {
    if (value === null || value === undefined) throw invalid()
    return coerce(value)
  }

function nullable(type: Exclude<GraphQLInputType, GraphQLNonNull<GraphQLNullableType>>): Coercer {
  const coerce = isListType(type)
    ? list(getCoercer(type.ofType))
    : isInputObjectType(type)
      ? object(type)
      : leaf((value) => type.parseValue(value))
  return (value) => (value === null || value === undefined ? null : coerce(value))
}

/** A single value becomes a list with this value. */
const list =
  (item: Coercer): Coercer =>
  (value) =>
    Array.isArray(value) ? value.map(item) : [item(value)]

const leaf =
  (parse: Coercer): Coercer =>
  (value) => {
    const parsed = parse(value)
    if (parsed === undefined) throw invalid()
    return parsed
  }

interface Fields {
  coercers: ReadonlyMap<string, Coercer>
  defaults: readonly GraphQLInputField[]
  required: readonly string[]
}

function object(type: GraphQLInputObjectType): Coercer {
  let fields: Fields | undefined // Filled when the first value is coerced, because a type may contain itself.
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw invalid()
    fields ??= readFields(type)
    const values = coerceFields(fields, value as Readonly<Record<string, unknown>>)
    if (type.isOneOf && !hasOneValue(Object.values(values))) throw invalid()
    return values
  }
}

const hasOneValue = (values: readonly unknown[]) => values.length === 1 && values[0] !== null

function readFields(type: GraphQLInputObjectType): Fields {
  const fields = Object.values(type.getFields())
  return {
    coercers: new Map(fields.map((field) => [field.name, getCoercer(field.type)])),
    defaults: fields.filter(({ defaultValue }) => defaultValue !== undefined),
    required: fields
      .filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined)
      .map(({ name }) => name),
  }
}

function coerceFields({ coercers, defaults, required }: Fields, given: Readonly<Record<string, unknown>>) {
  const values: Record<string, unknown> = {}
  for (const { name, defaultValue } of defaults) values[name] = defaultValue
  for (const name of Object.keys(given)) {
    const coerce = coercers.get(name)
    if (!coerce) throw invalid()
    if (given[name] !== undefined) values[name] = coerce(given[name])
  }
  for (const name of required) if (!Object.hasOwn(values, name)) throw invalid()
  return values
}
