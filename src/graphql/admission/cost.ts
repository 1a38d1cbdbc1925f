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
import { argumentKibCost, fieldCost, limits, listMultiplier, readCost } from '../caller-limits.ts'
import { refusal } from '../errors.ts'
import { collectFragments } from '../operation.ts'
import { type Existing, initialCounts } from './existing.ts'

interface Operation {
  schema: GraphQLSchema
  document: DocumentNode
  operation: OperationDefinitionNode
  /** The coerced variables. */
  values: Record<string, unknown>
}

/**
 * `once`: the cost counts once per list instead of once per node. `read`: it counts once per document, because objects
 * of the same field are read together. `upTo`: the multiplier is at most the number of objects that exist.
 */
type Weights = { field?: number; multiplier?: number; once?: number; read?: number; upTo?: keyof Existing }
type Complexity = number | Weights | ((args: Record<string, unknown>) => number | Weights)

interface Cost {
  each: number
  once: number
  read: number
}

/**
 * Computes the cost of an operation, and refuses one above `costMax`. A field costs `fieldCost` or its `complexity`,
 * more for long arguments, and `readCost` more if it has a selection. A selection below a list counts once per possible node. Each selection set is computed once per
 * type, so nested fragments do not multiply the work. (The Pothos plugin is not used, because it would coerce the
 * variables again.)
 */
export function computeCost(given: Operation, costMax: number = limits.costMax, existing = initialCounts): number {
  const root = given.schema.getRootType(given.operation.operation)
  const { each, once, read } = root ? createCostCounter(given, existing)(given.operation.selectionSet, root) : noCost
  const cost = Math.ceil(each + once + read)
  if (cost > costMax)
    throw refusal(
      'QUERY_TOO_COMPLEX',
      `The query costs ${cost}; the limit is ${costMax}. Request shorter pages, fewer fields, or fewer entries`,
    )
  return cost
}

const noCost: Cost = { each: 0, once: 0, read: 0 }

function createCostCounter({ schema, document, values }: Operation, existing: Existing) {
  const fragments = collectFragments(document)
  const known = new Map<SelectionSetNode, Map<GraphQLCompositeType, Cost>>()
  const countCharacters = createCharacterCounter(values)

  function countSet(set: SelectionSetNode, type: GraphQLCompositeType): Cost {
    const counted = known.get(set)?.get(type)
    if (counted !== undefined) return counted
    const cost = { ...noCost }
    for (const selection of set.selections) {
      const { each, once, read } = countSelection(selection, type)
      cost.each += each
      cost.once += once
      cost.read += read
    }
    known.set(set, (known.get(set) ?? new Map()).set(type, cost))
    return cost
  }

  function countSelection(selection: SelectionSetNode['selections'][number], type: GraphQLCompositeType): Cost {
    if (selection.kind === Kind.FIELD) return countField(selection, type)
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value)
    return fragment ? countSet(fragment.selectionSet, isCompositeType(condition) ? condition : type) : noCost
  }

  function countField(node: FieldNode, type: GraphQLCompositeType): Cost {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    if (!field) return { ...noCost, each: fieldCost } // __typename, introspection
    const isList = isListType(getNullableType(field.type))
    const weights = readWeights(field, node, values)
    const { field: own = fieldCost, multiplier: most = isList ? listMultiplier : 1, once = 0, upTo } = weights
    const { read = node.selectionSet ? readCost : 0 } = weights
    const multiplier = upTo === undefined ? most : Math.max(1, Math.min(most, existing[upTo]))
    const below = getNamedType(field.type)
    const inside = node.selectionSet && isCompositeType(below) ? countSet(node.selectionSet, below) : noCost
    const each = own + countText(node) + multiplier * inside.each + inside.once
    return { each, once, read: read + inside.read }
  }

  const countText = ({ arguments: given = [] }: FieldNode) =>
    argumentKibCost * Math.floor(given.reduce((sum, { value }) => sum + countCharacters(value), 0) / 1_024)

  return countSet
}

function createCharacterCounter(values: Operation['values']): (node: ValueNode) => number {
  const known = new Map<string, number>()

  function countVariable(name: string): number {
    const counted = known.get(name) ?? countValueCharacters(values[name])
    known.set(name, counted)
    return counted
  }

  return function countCharacters(node: ValueNode): number {
    switch (node.kind) {
      case Kind.VARIABLE:
        return countVariable(node.name.value)
      case Kind.LIST:
        return node.values.reduce((sum, each) => sum + countCharacters(each), 0)
      case Kind.OBJECT:
        return node.fields.reduce((sum, each) => sum + countCharacters(each.value), 0)
      default:
        return 'value' in node ? String(node.value).length : 0
    }
  }
}

function countValueCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [key, each]) => sum + key.length + countValueCharacters(each), 0)
}

function readWeights(field: GraphQLField<unknown, unknown>, node: FieldNode, values: Record<string, unknown>): Weights {
  const complexity = field.extensions['complexity'] as Complexity | undefined
  const weight = typeof complexity === 'function' ? complexity(getArgumentValues(field, node, values)) : complexity
  return typeof weight === 'object' ? weight : weight === undefined ? {} : { field: weight }
}

type Counted = number | ((args: Record<string, unknown>) => number)

/** Counts the submissions of a mutation by the `submissions` of its root fields. */
export function countSubmissions(
  { schema, values }: Pick<Operation, 'schema' | 'values'>,
  fields: readonly FieldNode[],
): number {
  const known = schema.getMutationType()?.getFields() ?? {}
  return fields.reduce((sum, node) => {
    const field = known[node.name.value]
    const counted = field?.extensions['submissions'] as Counted | undefined
    if (!field || counted === undefined) return sum
    return sum + (typeof counted === 'number' ? counted : counted(getArgumentValues(field, node, values)))
  }, 0)
}
