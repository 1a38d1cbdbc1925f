import { translateEai } from '@berth-jobs/berth/client'
import { Document, isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml'

/** A spec as the user wrote it: fields of JobSpecInput, not validated. */
export type DraftSpec = Readonly<Record<string, unknown>>

export type Path = readonly (string | number)[]

/** A message about a range of the text. */
export interface Mark {
  from: number
  to: number
  message: string
}

export interface ParsedSpec {
  /** The spec; null: the text is not a spec, and `marks` say why. */
  spec: DraftSpec | null
  marks: readonly Mark[]
}

export interface Edit {
  path: Path
  /** The new value; undefined: remove the field. */
  value: unknown
}

/** Larger specs would make typing slow. The command line can submit them. */
export const specCharactersMax = 1_000_000

const textOptions = { lineWidth: 0 }
const at = (from: number, to: number, message: string): Mark => ({ from, to: Math.max(to, from), message })

export function parseSpecText(text: string): ParsedSpec {
  const whole = (message: string): ParsedSpec => ({ spec: null, marks: [at(0, 0, message)] })
  if (text.length > specCharactersMax)
    return whole(
      `The spec has ${(text.length / 1e6).toFixed(1)} million characters; here it may have one million. Submit it by “berth submit -f FILE”.`,
    )
  const document = parseDocument(text, { logLevel: 'error', prettyErrors: false })
  const problems = [...document.errors, ...document.warnings]
  if (problems.length > 0) return { spec: null, marks: problems.map(({ pos, message }) => at(pos[0], pos[1], message)) }
  try {
    const value: unknown = document.toJS() ?? {}
    if (typeof value !== 'object' || Array.isArray(value))
      return whole('Write fields, such as “command: [echo, hello]”.')
    const spec = value as DraftSpec
    return { spec, marks: findPlainLists(document, spec) }
  } catch (error) {
    return whole(error instanceof Error ? error.message : String(error))
  }
}

/** Translates a job file of the EAI Toolkit to a spec. Throws a `JobFileError` if that is not possible. */
export function translateFile(text: string): { text: string; warnings: readonly string[] } {
  const { spec } = parseSpecText(text)
  if (spec === null) return { text, warnings: [] }
  const { spec: translated, warnings } = translateEai(spec)
  const isOurs = JSON.stringify(translated) === JSON.stringify(spec)
  return { text: isOurs ? text : formatSpecText(translated as DraftSpec), warnings }
}

/** Marks strings in place of lists. GraphQL would accept `echo hello` as a list with one item, the name of a program. */
function findPlainLists(document: Document, spec: DraftSpec): Mark[] {
  return ['command', 'arguments'].flatMap((field) => {
    const value = spec[field]
    if (typeof value !== 'string') return []
    const words = value
      .trim()
      .split(/\s+/)
      .map((word) => JSON.stringify(word))
    return [{ ...findRange(document, [field]), message: `Write a list: [${words.join(', ')}]` }]
  })
}

export const formatSpecText = (spec: DraftSpec): string =>
  Object.keys(spec).length === 0 ? '' : String(new Document(spec).toString(textOptions))

/** Changes fields in the YAML text, and keeps its comments. Removes objects that become empty. */
export function editSpecText(text: string, edits: readonly Edit[]): string {
  const document = parseDocument(text, { logLevel: 'error' })
  if (document.errors.length > 0) return text
  if (!isMap(document.contents)) document.setIn([], document.createNode({}))
  for (const { path, value } of edits) {
    if (value !== undefined) document.setIn(path, document.createNode(value))
    else removeField(document, path)
  }
  const { contents } = document
  return isMap(contents) && contents.items.length === 0 && !document.commentBefore ? '' : document.toString(textOptions)
}

function removeField(document: Document, path: Path) {
  if (!document.hasIn(path)) return
  document.deleteIn(path)
  const parent = path.slice(0, -1)
  const rest = parent.length > 0 && document.getIn(parent)
  if ((isMap(rest) || isSeq(rest)) && rest.items.length === 0) removeField(document, parent)
}

type Range = Pick<Mark, 'from' | 'to'>

/** Finds the range of a field or, if the text does not have it, of the nearest object around it. */
function findRange(document: Document, path: Path): Range {
  let node: unknown = document.contents
  let found: Range = { from: 0, to: 0 }
  for (const part of path) {
    const step = findPart(node, part)
    if (step.range === null) return found
    found = step.range
    node = step.value
  }
  return found
}

/** Finds a field or list item. `range` is that of the value or, if the value is an object or a list, of the name. */
function findPart(node: unknown, part: string | number): { value: unknown; range: Range | null } {
  if (isSeq(node)) {
    const value = node.items[Number(part)]
    return { value, range: toRange(value) }
  }
  const pair = isMap(node)
    ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
    : undefined
  if (!pair) return { value: undefined, range: null }
  return { value: pair.value, range: isScalar(pair.value) ? toRange(pair.value) : toRange(pair.key) }
}

const toRange = (node: unknown): Range | null =>
  isNode(node) && node.range ? { from: node.range[0], to: node.range[1] } : null

/** Converts violations to marks at their ranges in the text. */
export function markViolations(text: string, violations: readonly { path: string; message: string }[]): Mark[] {
  if (violations.length === 0) return []
  const document = parseDocument(text, { logLevel: 'error' })
  return violations.map(({ path, message }) => {
    const parts = path === '' ? [] : path.split('.')
    return { ...findRange(document, parts), message: path === '' ? message : `${path}: ${message}` }
  })
}

export function readField(spec: DraftSpec | null, path: Path): unknown {
  let value: unknown = spec
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string | number, unknown>)[part]
  }
  return value ?? undefined
}
