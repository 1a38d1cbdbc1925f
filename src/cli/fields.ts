import type { FragmentDefinitionNode, SelectionSetNode } from 'graphql'
import { usageError } from './exit.ts'

/** Fields of the output that the caller names: `--json id,state,user.name`. */

/** A fragment whose fields the rows have. */
export type RowShape = Pick<string, 'toString'>

/** Keeps only these fields. Refuses a field that the rows do not have. */
export async function selectFields(value: unknown, paths: readonly string[], shape: RowShape | null): Promise<unknown> {
  const known = shape ? await listFields(shape) : [...listPaths(value)]
  const unknown = paths.find((path) => !known.includes(path))
  if (unknown !== undefined && (shape || known.length > 0))
    throw usageError(`unknown field ${unknown}`, `the fields are ${known.join(', ')}`)
  return select(
    value,
    paths.map((path) => path.split('.')),
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

async function listFields(shape: RowShape): Promise<string[]> {
  const { parse, Kind } = await import('graphql')
  const fragments = parse(shape.toString()).definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
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
