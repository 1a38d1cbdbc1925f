import { quoteShell } from '../../parts/format.ts'

/** A field that differs, with its value in each spec; undefined: the spec does not have it. */
interface Difference {
  path: string
  values: readonly (string | undefined)[]
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** Formats a value. Lists of words are quoted as for a shell. */
const show = (value: unknown): string =>
  typeof value === 'string' ? value : isTexts(value) ? value.map(quoteShell).join(' ') : JSON.stringify(value)

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts lists of names and values (variables, labels) to fields, because their order rarely matters. */
function readNamed(value: unknown): Record<string, unknown> | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const pairs = value.map((each) =>
    isFields(each) ? [each['name'] ?? each['key'], each['value']] : [undefined, undefined],
  )
  return pairs.every(([name, text]) => typeof name === 'string' && typeof text === 'string')
    ? Object.fromEntries(pairs)
    : null
}

function* flatten(value: unknown, path: string): Generator<readonly [string, string]> {
  const fields = isFields(value) ? value : readNamed(value)
  if (fields) {
    for (const [name, each] of Object.entries(fields)) yield* flatten(each, path === '' ? name : `${path}.${name}`)
  } else if (value !== undefined && value !== null) yield [path, show(value)]
}

export function findDifferences(specs: readonly object[]): readonly Difference[] {
  const flat = specs.map((spec) => new Map(flatten(spec, '')))
  const paths = new Set(flat.flatMap((each) => [...each.keys()]))
  return [...paths]
    .map((path) => ({ path, values: flat.map((each) => each.get(path)) }))
    .filter(({ values }) => new Set(values).size > 1)
}
