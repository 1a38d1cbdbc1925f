import type { FragmentDefinitionNode, SelectionSetNode } from 'graphql'
import { TypedDocumentString } from '../../client/generated/graphql.ts'
import { usageError } from '../frame/exit.ts'

/** Output fields that the user names: `--json id,state,user.name`. */

/** The fields of the rows: names, all fields of a fragment, or all fields of a fragment under a name. */
export type RowShape = readonly (string | FragmentText | Readonly<Record<string, FragmentText>>)[]

type FragmentText = TypedDocumentString<object, unknown>

/** Refuses a path that the rows do not have. */
export async function demandFields(paths: readonly string[], shape: RowShape): Promise<void> {
  demandKnown(paths, await listFields(shape))
}

/** Keeps only the fields that the user named. */
export async function selectFields(value: unknown, { fields, isChecked }: Selection): Promise<unknown> {
  if (!fields) return value
  const known = [...listPaths(value)]
  if (!isChecked && known.length > 0) demandKnown(fields, known)
  return select(
    value,
    fields.map((path) => path.split('.')),
  )
}

interface Selection {
  fields: readonly string[] | null
  isChecked: boolean
}

function demandKnown(paths: readonly string[], known: readonly string[]): void {
  const unknown = paths.find((path) => !known.includes(path))
  if (unknown === undefined) return
  throw usageError(
    `unknown field ${unknown}`,
    known.length > 0 ? `the fields are ${known.join(', ')}` : 'this command prints ids alone; leave out --json',
  )
}

function select(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (Array.isArray(value)) return value.map((each) => select(each, paths))
  if (typeof value !== 'object' || value === null || paths.some((path) => path.length === 0)) return value
  const inner = new Map<string, string[][]>()
  for (const [key = '', ...rest] of paths) inner.set(key, [...(inner.get(key) ?? []), rest])
  return Object.fromEntries([...inner].map(([key, rest]) => [key, select(Reflect.get(value, key) ?? null, rest)]))
}

function* listPaths(value: unknown, prefix = ''): Generator<string> {
  const object: unknown = Array.isArray(value) ? value[0] : value
  if (typeof object !== 'object' || object === null) return
  for (const [key, inner] of Object.entries(object)) {
    yield `${prefix}${key}`
    yield* listPaths(inner, `${prefix}${key}.`)
  }
}

async function listFields(shape: RowShape): Promise<readonly string[]> {
  const listed: string[] = []
  for (const part of shape) {
    if (typeof part === 'string') listed.push(part)
    else if (part instanceof TypedDocumentString) listed.push(...(await listFragmentFields(part)))
    else
      for (const [name, fragment] of Object.entries(part))
        listed.push(name, ...(await listFragmentFields(fragment)).map((field) => `${name}.${field}`))
  }
  return listed
}

async function listFragmentFields(fragment: FragmentText): Promise<readonly string[]> {
  const { parse, Kind } = await import('graphql')
  const fragments = parse(fragment.toString()).definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
  const [first] = fragments
  return first ? [...new Set(fieldsIn(first.selectionSet, fragments, ''))] : []
}

function* fieldsIn(
  { selections }: SelectionSetNode,
  fragments: readonly FragmentDefinitionNode[],
  prefix: string,
): Generator<string> {
  for (const selection of selections) {
    if (selection.kind === 'Field') {
      const path = `${prefix}${selection.name.value}`
      if (path !== '__typename') yield path
      if (selection.selectionSet) yield* fieldsIn(selection.selectionSet, fragments, `${path}.`)
      continue
    }
    const spread = selection.kind === 'FragmentSpread' ? selection.name.value : null
    const inner = spread === null ? selection : fragments.find(({ name }) => name.value === spread)
    if (inner && 'selectionSet' in inner) yield* fieldsIn(inner.selectionSet, fragments, prefix)
  }
}
