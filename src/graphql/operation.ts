import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'

export const collectFragments = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])),
  )

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

/** Cached per field node, which is the same for all rows of a list. */
const cachedNames = new WeakMap<readonly FieldNode[], Names>()

/** Collects the fields that are selected below a field, each with its result names (aliases). */
export function collectNamesBelow({ fieldNodes, fragments }: GraphQLResolveInfo): Names {
  const known = cachedNames.get(fieldNodes)
  if (known) return known
  const names: Names = new Map()
  cachedNames.set(fieldNodes, names)
  const note = ({ name, alias = name }: FieldNode) => {
    names.set(name.value, (names.get(name.value) ?? new Set()).add(alias.value))
  }
  for (const node of [...fieldNodes, ...Object.values(fragments)]) visit(node, { Field: note })
  return names
}
