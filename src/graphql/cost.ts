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
} from 'graphql'
import { refusal } from './errors.ts'
import { limits } from './limits.ts'
import { fragmentsOf } from './operation.ts'

/**
 * What an operation costs by the weights of the schema: a field costs 1 or its `complexity`, and what is below a list
 * counts once per node that may come. The plugin keeps the weights with the fields. Its own sum would coerce the
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

type Weights = { field?: number; multiplier?: number }
type Complexity = number | Weights | ((args: Record<string, unknown>) => number | Weights)

const multiplierOfList = 10

/** Refuses an operation that costs more than `costMax`. */
export function costOf(asked: Asked, costMax: number = limits.costMax): number {
  const root = asked.schema.getRootType(asked.operation.operation)
  const cost = root ? costCounter(asked)(asked.operation.selectionSet, root) : 0
  if (cost > costMax)
    throw refusal(
      'QUERY_TOO_COMPLEX',
      `The query costs ${cost}; the limit is ${costMax}. Request shorter pages or fewer fields`,
    )
  return cost
}

function costCounter({ schema, document, values }: Asked) {
  const fragments = fragmentsOf(document)
  const known = new Map<SelectionSetNode, Map<GraphQLCompositeType, number>>()

  function ofSet(set: SelectionSetNode, type: GraphQLCompositeType): number {
    const counted = known.get(set)?.get(type)
    if (counted !== undefined) return counted
    const cost = set.selections.reduce((sum, selection) => sum + ofSelection(selection, type), 0)
    if (!known.has(set)) known.set(set, new Map())
    known.get(set)?.set(type, cost)
    return cost
  }

  function ofSelection(selection: SelectionSetNode['selections'][number], type: GraphQLCompositeType): number {
    if (selection.kind === Kind.FIELD) return ofField(selection, type)
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value)
    return fragment ? ofSet(fragment.selectionSet, isCompositeType(condition) ? condition : type) : 0
  }

  function ofField(node: FieldNode, type: GraphQLCompositeType): number {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    if (!field) return 1 // __typename, introspection
    const { field: own = 1, multiplier = isListType(getNullableType(field.type)) ? multiplierOfList : 1 } = weights(
      field,
      node,
      values,
    )
    const below = getNamedType(field.type)
    return own + (node.selectionSet && isCompositeType(below) ? multiplier * ofSet(node.selectionSet, below) : 0)
  }

  return ofSet
}

function weights(field: GraphQLField<unknown, unknown>, node: FieldNode, values: Record<string, unknown>): Weights {
  const complexity = field.extensions['complexity'] as Complexity | undefined
  const weight = typeof complexity === 'function' ? complexity(getArgumentValues(field, node, values)) : complexity
  return typeof weight === 'object' ? weight : weight === undefined ? {} : { field: weight }
}
