import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'

/** The operation that is asked for; undefined: none has this name, or there is not exactly one to choose. */
export function findOperation(
  document: DocumentNode,
  name: string | null | undefined,
): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  return name
    ? operations.find((each) => each.name?.value === name)
    : operations.length === 1
      ? operations[0]
      : undefined
}

export const collectFragments = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])),
  )

/** The fields that an operation selects at its root, through fragments too. */
export function collectRootFields(document: DocumentNode, operation: OperationDefinitionNode): readonly FieldNode[] {
  const fragments = collectFragments(document)
  const fields: FieldNode[] = []
  const sets = new Set([operation.selectionSet])
  for (const set of sets)
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection)
      else {
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
        if (fragment) sets.add(fragment.selectionSet)
      }
    }
  return fields
}

type Names = Map<string, Set<string>>

/** Of the rows of a list, which have the same field. */
const namesKnown = new WeakMap<readonly FieldNode[], Names>()

/** The fields that may be selected below, each with the names under which it is. */
export function collectNamesBelow({ fieldNodes, fragments }: GraphQLResolveInfo): Names {
  const known = namesKnown.get(fieldNodes)
  if (known) return known
  const names: Names = new Map()
  namesKnown.set(fieldNodes, names)
  const note = ({ name, alias = name }: FieldNode) => {
    names.set(name.value, (names.get(name.value) ?? new Set()).add(alias.value))
  }
  for (const node of [...fieldNodes, ...Object.values(fragments)]) visit(node, { Field: note })
  return names
}
