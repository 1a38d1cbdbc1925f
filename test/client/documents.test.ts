import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { expect, it } from 'vitest'
import { repository } from '../support/sources.ts'

/** Normalised caches merge entities by id. An entity without an id would replace the fields of another entity. */

const schema = buildSchema(repository.find(({ path }) => path === 'schema.graphql')?.text ?? '')
const files = repository.filter(({ path }) => /^src\/client\/documents\/[^/]+\.graphql$/.test(path))
const documents = new Map(files.map(({ path, text }) => [path, parse(text)]))

function entitiesWithoutId(document: DocumentNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): string[] {
  const found: string[] = []
  const types = new TypeInfo(schema)
  const selectsId = ({ selections }: SelectionSetNode): boolean =>
    selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value === 'id' && !selection.alias
      if (selection.kind === Kind.INLINE_FRAGMENT) return selectsId(selection.selectionSet)
      const fragment = fragments.get(selection.name.value)
      return fragment !== undefined && selectsId(fragment.selectionSet)
    })
  visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet(node, _key, parent) {
        const type = getNamedType(types.getType())
        const isPart = parent && 'kind' in parent && parent.kind === Kind.INLINE_FRAGMENT
        if (isPart || !(isObjectType(type) || isInterfaceType(type)) || !type.getFields()['id']) return
        if (!selectsId(node)) found.push(`line ${node.loc?.startToken.line}: ${type.name}`)
      },
    }),
  )
  return found
}

it('every document of the package selects the id of each object with an id', () => {
  const fragments = new Map(
    [...documents.values()].flatMap(({ definitions }) =>
      definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
    ),
  )
  expect(documents.size).toBeGreaterThan(5)
  const found = [...documents].flatMap(([path, document]) =>
    entitiesWithoutId(document, fragments).map((place) => `${path}, ${place}`),
  )
  expect(found).toEqual([])
})

/** `berth spec` and copies in the console read a spec that can be submitted again. */
it('the fragment SpecFields selects every field of a submission', () => {
  const all = [...documents.values()].flatMap(({ definitions }) => definitions)
  const fragment = all.find(
    (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === 'SpecFields',
  ) as FragmentDefinitionNode
  const selected = fragment.selectionSet.selections.map((each) => each.kind === Kind.FIELD && each.name.value)
  const input = schema.getType('JobSpecInput')
  const fields = isInputObjectType(input) ? Object.keys(input.getFields()) : []
  expect(fields.length).toBeGreaterThan(40)
  expect(fields.filter((field) => !selected.includes(field))).toEqual([])
})
