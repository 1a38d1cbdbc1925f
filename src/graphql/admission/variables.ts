import { randomUUID } from 'node:crypto'
import {
  coerceInputValue,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLInputType,
  GraphQLScalarType,
  type GraphQLSchema,
  getNullableType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
} from 'graphql'
import { inSlices } from '../../platform/slices.ts'
import { errorsMax } from '../errors.ts'
import { coercerOf } from './coercion.ts'

/**
 * The variables of a request in the types of its operation. The executor would tell every error with the whole value in
 * its text: an object of 4,000 unknown keys took it 10 s. Here the first errors end the work, and each names the place,
 * not the value. The executor is given the coerced values (`withCoerced`): a second coercion took a tenth of the time
 * of a submission.
 */

export type Variables = Record<string, unknown>

class TooManyErrors extends Error {}

export async function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Variables>,
): Promise<{ values: Variables } | { errors: readonly GraphQLError[] }> {
  const errors: GraphQLError[] = []
  const report = (message: string) => {
    if (errors.push(new GraphQLError(message)) >= errorsMax) throw new TooManyErrors()
  }
  const values: Variables = Object.create(null)
  try {
    for (const { variable, type: typeNode, defaultValue } of variableDefinitions) {
      const name = variable.name.value
      const type = typeFromAST(schema, typeNode)
      if (!isInputType(type)) report(`Variable "$${name}" has no input type`)
      else if (Object.hasOwn(given, name)) values[name] = await coerced(type, { name, value: given[name] }, report)
      else if (defaultValue) values[name] = valueFromAST(defaultValue, type)
      else if (isNonNullType(type)) report(`Variable "$${name}" of required type "${type}" was not provided.`)
    }
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error
  }
  return errors.length > 0 ? { errors } : { values }
}

interface Given {
  name: string
  value: unknown
}

type Report = (message: string) => void

/** The entries of a list in slices: a thousand submissions take a tenth of a second. */
async function coerced(type: GraphQLInputType, { name, value }: Given, report: Report): Promise<unknown> {
  const list = getNullableType(type)
  if (!isListType(list) || !Array.isArray(value)) return coercedOne(type, { name, value }, report)
  const itemType = list.ofType as GraphQLInputType
  return inSlices(value, (item, index) => coercedOne(itemType, { name: `${name}[${index}]`, value: item }, report))
}

function coercedOne(type: GraphQLInputType, { name, value }: Given, report: Report): unknown {
  try {
    return coercerOf(type)(value)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    // The value is not valid, and graphql-js says why.
    return coerceInputValue(value, type, (path, _value, { message }) => {
      const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
      report(`Variable "$${name}${place}": ${message}`)
    })
  }
}

/** A scalar that takes every value as it is, under a name that no document has. */
const coercedType = new GraphQLScalarType({ name: 'Coerced', parseValue: (value) => value })
const coercedName = randomUUID()
const coercedNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: coercedName } } as const

/** The schema, with that scalar for the executor of an operation. */
const schemas = new WeakMap<GraphQLSchema, GraphQLSchema>()

function withCoercedType(schema: GraphQLSchema): GraphQLSchema {
  const known = schemas.get(schema)
  if (known) return known
  const getType = (name: string) => (name === coercedName ? coercedType : schema.getType(name))
  const extended: GraphQLSchema = Object.create(schema, { getType: { value: getType } })
  schemas.set(schema, extended)
  return extended
}

/** The arguments of an execution whose variables are `values` already, in the types of the operation. */
export function withCoerced(args: ExecutionArgs, values: Variables): ExecutionArgs {
  const { document, schema } = args
  const definitions = document.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition
    const variableDefinitions = definition.variableDefinitions?.map((each) => ({ ...each, type: coercedNode }))
    return { ...definition, ...(variableDefinitions && { variableDefinitions }) }
  })
  return { ...args, schema: withCoercedType(schema), document: { ...document, definitions }, variableValues: values }
}
