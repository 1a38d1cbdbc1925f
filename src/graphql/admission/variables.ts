import { randomUUID } from 'node:crypto'
import {
  coerceInputValue,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLInputField,
  type GraphQLInputType,
  GraphQLScalarType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
} from 'graphql'
import { mapInSlices } from '../../platform/slices.ts'
import { errorsMax } from '../errors.ts'
import { getCoercer } from './coercion.ts'

export type Variables = Record<string, unknown>

class TooManyErrors extends Error {}

/**
 * Coerces the variables of a request. Stops after `errorsMax` errors, which do not repeat the value: graphql-js alone
 * takes 10 s for an object of 4,000 unknown keys.
 */
export async function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Variables>,
): Promise<{ values: Variables } | { errors: readonly GraphQLError[] }> {
  const errors: GraphQLError[] = []
  const report = (message: string) => {
    if (errors.push(new GraphQLError(suggestInnerField(schema, message))) >= errorsMax) throw new TooManyErrors()
  }
  const values: Variables = Object.create(null)
  try {
    for (const { variable, type: typeNode, defaultValue } of variableDefinitions) {
      const name = variable.name.value
      const type = typeFromAST(schema, typeNode)
      if (!isInputType(type)) report(`Variable "$${name}" has no input type`)
      else if (Object.hasOwn(given, name)) values[name] = await coerceValue(type, { name, value: given[name] }, report)
      else if (defaultValue) values[name] = valueFromAST(defaultValue, type)
      else if (isNonNullType(type)) report(`Variable "$${name}" of required type "${type}" was not provided.`)
    }
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error
  }
  return errors.length > 0 ? { errors } : { values }
}

/** Suggests `resources.NAME` for an unknown field of the spec. graphql-js suggests only fields of the same type. */
function suggestInnerField(schema: GraphQLSchema, message: string): string {
  const [, field = '', name = ''] = /: Field "([^"]+)" is not defined by type "(\w+)"/.exec(message) ?? []
  const outer = schema.getType(name)
  if (!isInputObjectType(outer)) return message
  const hasField = ({ type }: GraphQLInputField) => {
    const inner = getNullableType(type)
    return isInputObjectType(inner) && Object.hasOwn(inner.getFields(), field)
  }
  const found = Object.values(outer.getFields()).find(hasField)
  return found ? `${message.replace(/ ?Did you mean .*$/s, '')} Did you mean "${found.name}.${field}"?` : message
}

interface Given {
  name: string
  value: unknown
}

type Report = (message: string) => void

/** Coerces the entries of a list in slices, because a thousand submissions take a tenth of a second. */
async function coerceValue(type: GraphQLInputType, { name, value }: Given, report: Report): Promise<unknown> {
  const list = getNullableType(type)
  if (!isListType(list) || !Array.isArray(value)) return coerceItem(type, { name, value }, report)
  const itemType = list.ofType as GraphQLInputType
  return mapInSlices(value, (item, index) => coerceItem(itemType, { name: `${name}[${index}]`, value: item }, report))
}

function coerceItem(type: GraphQLInputType, { name, value }: Given, report: Report): unknown {
  try {
    return getCoercer(type)(value)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    // Coerces an invalid value again by graphql-js, for its message.
    return coerceInputValue(value, type, (path, _value, { message }) => {
      const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
      report(`Variable "$${name}${place}": ${message}`)
    })
  }
}

/** A scalar that accepts every value. Its name is random, so that documents cannot use it. */
const coercedType = new GraphQLScalarType({ name: 'Coerced', parseValue: (value) => value })
const coercedName = randomUUID()
const coercedNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: coercedName } } as const

const extendedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>()

function addCoercedType(schema: GraphQLSchema): GraphQLSchema {
  const known = extendedSchemas.get(schema)
  if (known) return known
  const getType = (name: string) => (name === coercedName ? coercedType : schema.getType(name))
  const extended: GraphQLSchema = Object.create(schema, { getType: { value: getType } })
  extendedSchemas.set(schema, extended)
  return extended
}

/**
 * Returns arguments with which graphql-js uses the coerced variables as they are. Coercing them again would take a tenth
 * of the time of a submission.
 */
export function applyCoercedVariables(args: ExecutionArgs, values: Variables): ExecutionArgs {
  const { document, schema } = args
  const definitions = document.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition
    const variableDefinitions = definition.variableDefinitions?.map((each) => ({ ...each, type: coercedNode }))
    return { ...definition, ...(variableDefinitions && { variableDefinitions }) }
  })
  return { ...args, schema: addCoercedType(schema), document: { ...document, definitions }, variableValues: values }
}
