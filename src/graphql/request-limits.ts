import { type DocumentNode, GraphQLError, Kind, Lexer, parse, type SelectionSetNode, Source, TokenKind } from 'graphql'
import { refusal } from './errors.ts'
import { fragmentsOf } from './operation.ts'

/** What one request may ask for. The same on every transport; each refusal comes before any resolver runs. */
export const limits = {
  bodyBytesMax: 4 * 1024 * 1024,
  /** Of all requests of a user that are under way; of callers without a token, of an address. */
  bodiesBytesMax: 64 * 1024 * 1024,
  /** Bytes of a body that are dropped after the answer to it; after that, the connection is cut. */
  passedOverBytesMax: 16 * 1024 * 1024,
  passedOverMsMax: 5_000,
  /** A body above this is large: so many of a user are read and carried out at once. */
  largeBodyBytes: 256 * 1024,
  largeBodiesAtOnceMax: 2,
  /** Values of the JSON of a body: objects, lists, texts, numbers. A thousand submissions of fifty each. */
  bodyValuesMax: 50_000,
  documentBytesMax: 64 * 1024,
  rememberedDocumentsBytesMax: 64 * 1024 * 1024,
  /** Of the request of a subscription, and of every message to a WebSocket. */
  subscriptionBytesMax: 64 * 1024,
  tokensMax: 2_000,
  depthMax: 16,
  aliasesMax: 50,
  rootFieldsMax: 20,
  costMax: 50_000,
  /** Largest cost of the requests of one user in flight; further ones wait, at most `waitMsMax`. */
  costUnderWayMax: 50_000,
  waitMsMax: 10_000,
  /** Statements for lists of a user that run at once, each at most `listMsMax`. */
  listsAtOnceMax: 2,
  listMsMax: 5_000,
  /** For a caller without a token: what a log-in page reads of serverInfo. */
  anonymousCostMax: 20,
  anonymousBodyBytesMax: 16 * 1024,
  subscriptionsPerConnectionMax: 100,
  subscriptionsPerPersonMax: 1_000,
  /** Of their different documents together. */
  subscriptionTokensPerPersonMax: 100_000,
  socketsPerPersonMax: 500,
  /** Sockets from one address that have not logged in yet. */
  strangersPerAddressMax: 1_000,
  pageSizeDefault: 20,
  pageSizeMax: 100,
  nodesMax: 100,
  bulkMax: 1_000,
  filterIdsMax: 1_000,
  /** Specs that one request shows, unless it is a single one. */
  specBytesMax: 1024 * 1024,
  decisionsMax: 100,
} as const

/** A statement that reads all jobs, or as many: about half a second, which is a fifth of what one request may cost. */
export const scanCost = 10_000
/** Reads every table, or every entry of the audit log: two of a user at once. */
export const checkCost = 25_000
/** The leader of the pool plans for it. */
export const questionCost = 400
/** For each KiB of text in the arguments of a field beyond the first: it is parsed, checked, hashed and stored. */
export const argumentKibCost = 8

/** To send 1 MiB of text: forty are all that one request gets, whatever it calls them. */
const mebibyteCost = 1_250
/** A page of output may be 1 MiB, and costs as much again to read. */
export const logPageCost = mebibyteCost
export const logTextCost = mebibyteCost
/** Of 5,000 lines. Their texts cost as much together as that of the page. */
export const logLinesCost = { field: mebibyteCost, multiplier: mebibyteCost }
/** For each 64 KiB of a batch of `tail`, which are 384 KiB as JSON at most, or `batchLinesMax` lines. */
export const batchTextCost = 400
export const batchLinesCost = { field: batchTextCost, multiplier: 250 }
export const batchLinesMax = 1_000
/** By the same measure: a closure may be 256 KiB, the body of an artifact 64 KiB, its metadata 16 KiB. */
export const closureCost = mebibyteCost / 2
export const artifactBodyCost = Math.ceil(mebibyteCost / 8)
export const artifactMetadataCost = Math.ceil(mebibyteCost / 32)

const tooComplex = (message: string) => refusal('QUERY_TOO_COMPLEX', message)

/**
 * Parses a document, or refuses it for its size or shape. Needs no schema, so it comes before validation, whose cost
 * grows faster than the document.
 */
export function parseWithinLimits(text: string): DocumentNode {
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
    throw isSyntaxError(error) ? parseFailed(error) : error
  }
}

const isSyntaxError = (error: unknown): error is GraphQLError =>
  error instanceof GraphQLError && error.extensions['code'] === undefined

const parseFailed = ({ message, source, positions }: GraphQLError) =>
  new GraphQLError(message, {
    source: source ?? null,
    positions: positions ?? null,
    extensions: { code: 'GRAPHQL_PARSE_FAILED', http: { spec: true, status: 400 } },
  })

/** Unknown for a document that was not parsed from a text: then as many as it may have. */
export const tokensOf = ({ tokenCount = limits.tokensMax }: DocumentNode): number => tokenCount

/** Before parsing: the parser recurses, so a document of nothing but braces would exhaust its stack. */
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

function checkShape(document: DocumentNode): void {
  const measure = measurer(document)
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

/**
 * Measures a selection set with its fragments; each set once, so that fragments within fragments do not multiply the
 * work.
 */
function measurer(document: DocumentNode): (set: SelectionSetNode) => Shape {
  const fragments = fragmentsOf(document)
  // A set under measurement counts as nothing: a cycle of fragments is for validation to refuse.
  const measured = new Map<SelectionSetNode, Shape>()

  function measure(set: SelectionSetNode): Shape {
    const known = measured.get(set)
    if (known) return known
    const total: Shape = { depth: 0, aliases: 0, fields: 0 }
    measured.set(set, { depth: 0, aliases: 0, fields: 0 })
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
      return fragment ? measure(fragment.selectionSet) : { depth: 0, aliases: 0, fields: 0 }
    }
    // Introspection has a depth of its own, which graphql-js limits by a validation rule.
    const introspects = selection.name.value.startsWith('__')
    const below = selection.selectionSet && !introspects ? measure(selection.selectionSet) : { depth: 0, aliases: 0 }
    return { depth: below.depth + 1, aliases: below.aliases + (selection.alias ? 1 : 0), fields: 1 }
  }

  return measure
}
