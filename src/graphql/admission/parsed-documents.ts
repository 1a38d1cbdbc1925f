import { type DocumentNode, GraphQLError, Kind, Lexer, parse, type SelectionSetNode, Source, TokenKind } from 'graphql'
import { LRUCache } from 'lru-cache'
import { limits } from '../caller-limits.ts'
import { refusal } from '../errors.ts'
import { collectFragments } from '../operation.ts'

/**
 * Caches of parsed documents by their text, and of their validation; the least recently used entries are evicted. Texts
 * with syntax errors are not cached: parsing them again is fast, and they may be megabytes long.
 */
export const createDocumentCaches = () => ({
  documentCache: new LRUCache<string, DocumentNode>({
    maxSize: limits.documentCacheBytesMax,
    sizeCalculation: (document, text) =>
      bytesPerDocument + text.length * bytesPerCharacter + countTokens(document) * bytesPerToken,
  }),
  errorCache: { get: () => undefined, set() {} },
})

/** Estimated memory of a cached document in V8, rounded up. */
const bytesPerDocument = 2_000
const bytesPerCharacter = 2
const bytesPerToken = 600

/** Returns the number of tokens. A document that was not parsed from text counts as one of the maximum size. */
export const countTokens = ({ tokenCount = limits.tokensMax }: DocumentNode): number => tokenCount

const tooComplex = (message: string) => refusal('QUERY_TOO_COMPLEX', message)

/**
 * Parses a document. Refuses it first if it is too large or too deep, because the cost of validation grows faster than
 * the document.
 */
export function parseDocument(text: string): DocumentNode {
  const bytes = Buffer.byteLength(text)
  if (bytes > limits.documentBytesMax)
    throw tooComplex(`The document has ${bytes} bytes; the limit is ${limits.documentBytesMax}`)
  const source = new Source(text, 'GraphQL request')
  try {
    checkTokens(source)
    const document = parse(source)
    checkShape(document)
    return document
  } catch (error) {
    throw isSyntaxError(error) ? describeSyntaxError(error) : error
  }
}

const isSyntaxError = (error: unknown): error is GraphQLError =>
  error instanceof GraphQLError && error.extensions['code'] === undefined

const describeSyntaxError = ({ message, source, positions }: GraphQLError) =>
  new GraphQLError(message, {
    source: source ?? null,
    positions: positions ?? null,
    extensions: { code: 'GRAPHQL_PARSE_FAILED', http: { spec: true, status: 400 } },
  })

/**
 * Counts tokens before parsing, because the parser is recursive: a document of nested braces would exhaust its stack.
 */
function checkTokens(source: Source): void {
  const lexer = new Lexer(source)
  for (let tokens = 0; lexer.advance().kind !== TokenKind.EOF; tokens++)
    if (tokens >= limits.tokensMax) throw tooComplex(`The document has more than ${limits.tokensMax} tokens`)
}

interface Shape {
  depth: number
  aliases: number
  fields: number
}

const noShape: Shape = { depth: 0, aliases: 0, fields: 0 }

function checkShape(document: DocumentNode): void {
  const measure = createShapeMeasure(document)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const { depth, aliases, fields } = measure(definition.selectionSet)
    if (depth > limits.depthMax)
      throw refusal('QUERY_TOO_DEEP', `The query is ${depth} levels deep; the limit is ${limits.depthMax}`)
    if (aliases > limits.aliasesMax)
      throw tooComplex(`The query has ${aliases} aliases; the limit is ${limits.aliasesMax}`)
    if (fields > limits.rootFieldsMax)
      throw tooComplex(`The query has ${fields} root fields; the limit is ${limits.rootFieldsMax}`)
  }
}

/** Measures each selection set once, so nested fragments do not multiply the work. */
function createShapeMeasure(document: DocumentNode): (set: SelectionSetNode) => Shape {
  const fragments = collectFragments(document)
  // A set that is being measured counts as empty: validation refuses cycles of fragments later.
  const measured = new Map<SelectionSetNode, Shape>()

  function measure(set: SelectionSetNode): Shape {
    const known = measured.get(set)
    if (known) return known
    const total = { ...noShape }
    measured.set(set, noShape)
    for (const selection of set.selections) {
      const part = measureSelection(selection)
      total.depth = Math.max(total.depth, part.depth)
      total.aliases += part.aliases
      total.fields += part.fields
    }
    measured.set(set, total)
    return total
  }

  function measureSelection(selection: SelectionSetNode['selections'][number]): Shape {
    if (selection.kind === Kind.INLINE_FRAGMENT) return measure(selection.selectionSet)
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = fragments.get(selection.name.value)
      return fragment ? measure(fragment.selectionSet) : noShape
    }
    // Not counted, because a validation rule of graphql-js limits the depth of introspection.
    const introspects = selection.name.value.startsWith('__')
    const below = selection.selectionSet && !introspects ? measure(selection.selectionSet) : noShape
    return { depth: below.depth + 1, aliases: below.aliases + (selection.alias ? 1 : 0), fields: 1 }
  }

  return measure
}
