import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import { argumentKibCost, limits } from '../caller-limits.ts'
import { refusal } from '../errors.ts'
import { fragmentsOf } from '../operation.ts'

/**
 * The cost of an operation by the weights of the schema: a field costs 1 or its `complexity`, more with long arguments,
 * and what is below a list counts once per node that may come. The plugin keeps the weights with the fields. Its own sum would coerce the
 * variables again, without a limit of errors, so the sum is made here from coerced variables. Every selection set is
 * counted once per type: fragments within fragments do not multiply the work.
 */

interface Asked {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
  /** Coerced. */
  values: Record<string, unknown>
}

/** `once`: below a list the field counts once for the list, and not for each of its nodes. */
type Weights = { field?: number; multiplier?: number; once?: number }
type Complexity = number | Weights | ((args: Record<string, unknown>) => number | Weights)

interface Cost {
  each: number
  once: number
}

const multiplierOfList = 10

/** Refuses an operation that costs more than `costMax`. */
export function computeCost(asked: Asked, costMax: number = limits.costMax): number {
  const root = asked.schema.getRootType(asked.operation.operation)
  const { each, once } = root ? costCounter(asked)(asked.operation.selectionSet, root) : nothing
  const cost = each + once
  if (cost > costMax)
    throw refusal(
      'QUERY_TOO_COMPLEX',
      `The query costs ${cost}; the limit is ${costMax}. Request shorter pages, fewer fields, or fewer entries`,
    )
  return cost
}

const nothing: Cost = { each: 0, once: 0 }

function costCounter({ schema, document, values }: Asked) {
  const fragments = fragmentsOf(document)
  const known = new Map<SelectionSetNode, Map<GraphQLCompositeType, Cost>>()
  const charactersOf = charactersCounter(values)

  function ofSet(set: SelectionSetNode, type: GraphQLCompositeType): Cost {
    const counted = known.get(set)?.get(type)
    if (counted !== undefined) return counted
    const cost = { ...nothing }
    for (const selection of set.selections) {
      const { each, once } = ofSelection(selection, type)
      cost.each += each
      cost.once += once
    }
    if (!known.has(set)) known.set(set, new Map())
    known.get(set)?.set(type, cost)
    return cost
  }

  function ofSelection(selection: SelectionSetNode['selections'][number], type: GraphQLCompositeType): Cost {
    if (selection.kind === Kind.FIELD) return ofField(selection, type)
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value)
    return fragment ? ofSet(fragment.selectionSet, isCompositeType(condition) ? condition : type) : nothing
  }

  function ofField(node: FieldNode, type: GraphQLCompositeType): Cost {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    if (!field) return { each: 1, once: 0 } // __typename, introspection
    const isList = isListType(getNullableType(field.type))
    const { field: own = 1, multiplier = isList ? multiplierOfList : 1, once = 0 } = weights(field, node, values)
    const below = getNamedType(field.type)
    const inside = node.selectionSet && isCompositeType(below) ? ofSet(node.selectionSet, below) : nothing
    return { each: own + textCost(node) + multiplier * inside.each + inside.once, once }
  }

  const textCost = ({ arguments: given = [] }: FieldNode) =>
    argumentKibCost * Math.floor(given.reduce((sum, { value }) => sum + charactersOf(value), 0) / 1_024)

  return ofSet
}

/** Counts the characters that an argument has. A variable is counted once, however many arguments use it. */
function charactersCounter(values: Asked['values']): (node: ValueNode) => number {
  const known = new Map<string, number>()

  function ofVariable(name: string): number {
    const counted = known.get(name) ?? charactersIn(values[name])
    known.set(name, counted)
    return counted
  }

  return function charactersOf(node: ValueNode): number {
    switch (node.kind) {
      case Kind.VARIABLE:
        return ofVariable(node.name.value)
      case Kind.LIST:
        return node.values.reduce((sum, each) => sum + charactersOf(each), 0)
      case Kind.OBJECT:
        return node.fields.reduce((sum, each) => sum + charactersOf(each.value), 0)
      default:
        return 'value' in node ? String(node.value).length : 0
    }
  }
}

function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [key, each]) => sum + key.length + charactersIn(each), 0)
}

function weights(field: GraphQLField<unknown, unknown>, node: FieldNode, values: Record<string, unknown>): Weights {
  const complexity = field.extensions['complexity'] as Complexity | undefined
  const weight = typeof complexity === 'function' ? complexity(getArgumentValues(field, node, values)) : complexity
  return typeof weight === 'object' ? weight : weight === undefined ? {} : { field: weight }
}

type Counted = number | ((args: Record<string, unknown>) => number)

/** The submissions of a mutation, by the `submissions` of its root fields. */
export function countSubmissions({ schema, fields, values }: Root): number {
  const known = schema.getMutationType()?.getFields() ?? {}
  return fields.reduce((sum, node) => {
    const field = known[node.name.value]
    const counted = field?.extensions['submissions'] as Counted | undefined
    if (!field || counted === undefined) return sum
    return sum + (typeof counted === 'number' ? counted : counted(getArgumentValues(field, node, values)))
  }, 0)
}

interface Root extends Pick<Asked, 'schema' | 'values'> {
  fields: readonly FieldNode[]
}
