import { hash } from 'node:crypto'
import { GraphQLError } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import { anonymous, type Viewer } from '../../domain/access.ts'
import { badRequest, refusal } from '../errors.ts'

export type UntrustedDocuments = 'ALL' | 'AUTHENTICATED' | 'NONE'

export interface TrustedDocumentsConfig {
  /** Document texts by id, from the manifests of applications. */
  readonly byId: ReadonlyMap<string, string>
  readonly freeText: UntrustedDocuments
}

const idCharactersShown = 80

/**
 * Documents that the server knows in advance. A request names one by `documentId`, or by the hash in
 * `extensions.persistedQuery`, as Apollo and urql send it. `freeText` determines who may also send other texts. A
 * client that tries to register a document gets PERSISTED_QUERY_NOT_SUPPORTED, after which it sends texts.
 */
export class TrustedDocuments {
  readonly #texts: ReadonlyMap<string, string>
  readonly #known: ReadonlySet<string>
  readonly #freeText: UntrustedDocuments

  constructor({ byId, freeText }: TrustedDocumentsConfig) {
    this.#texts = new Map([...byId].map(([id, text]) => [withoutPrefix(id), text]))
    this.#known = new Set(this.#texts.values())
    this.#freeText = freeText
  }

  /** Replaces the id of a document by its text. Throws a refusal. */
  resolve(params: GraphQLParams, viewer: Viewer): GraphQLParams {
    const { documentId, ...rest } = params as GraphQLParams & { documentId?: unknown }
    const name = readName(documentId, rest.extensions)
    const { query } = rest
    if (query === undefined || query === null || (query === '' && name))
      return name ? { ...rest, query: this.#find(name, viewer) } : rest
    if (typeof query === 'string') this.#checkText(query, name, viewer)
    return rest
  }

  #find({ id, isHash }: Name, viewer: Viewer): string {
    const text = this.#texts.get(withoutPrefix(id))
    if (text !== undefined) return text
    if (isHash && this.#mayFreely(viewer)) throw notSupported()
    throw notTrusted(`The document ${quoteId(id)} is not known`)
  }

  #checkText(query: string, name: Name | null, viewer: Viewer): void {
    const text = name && this.#texts.get(withoutPrefix(name.id))
    if (name && (text == null ? name.isHash && hashDocument(query) !== withoutPrefix(name.id) : text !== query))
      throw badRequest(`The text is not the text of document ${quoteId(name.id)}; send only one of them`)
    if (!this.#mayFreely(viewer) && !this.#known.has(query)) throw notTrusted('The document is not known')
  }

  /** true: the caller may send any text. A run may, because it can use only four mutations. */
  #mayFreely(viewer: Viewer): boolean {
    if (this.#freeText === 'AUTHENTICATED') return viewer !== anonymous
    return this.#freeText === 'ALL' || viewer.run !== null
  }
}

interface Name {
  id: string
  /** true: the id is the SHA-256 of the text, as in automatic persisted queries. */
  isHash: boolean
}

function readName(documentId: unknown, extensions: unknown): Name | null {
  if (documentId !== undefined && documentId !== null) {
    if (typeof documentId !== 'string' || documentId === '') throw badRequest('`documentId` must be a text')
    return { id: documentId, isHash: false }
  }
  const persisted = extensions && typeof extensions === 'object' && Reflect.get(extensions, 'persistedQuery')
  if (!persisted) return null
  const hash: unknown = typeof persisted === 'object' ? Reflect.get(persisted, 'sha256Hash') : null
  if (typeof hash !== 'string' || hash === '')
    throw badRequest('`extensions.persistedQuery` must be { version: 1, sha256Hash: "…" }')
  return { id: hash, isHash: true }
}

/** Removes the prefix, which some manifests have in their ids although their clients do not send it. */
const withoutPrefix = (id: string) => id.replace(/^sha256:/, '')

const quoteId = (id: string) =>
  JSON.stringify(id.length > idCharactersShown ? `${id.slice(0, idCharactersShown)}…` : id)

export const hashDocument = (text: string) => hash('sha256', text)

export const indexDocuments = (texts: readonly string[]): ReadonlyMap<string, string> =>
  new Map(texts.map((text) => [hashDocument(text), text]))

const notTrusted = (problem: string) =>
  refusal('DOCUMENT_NOT_TRUSTED', `${problem}; this server only executes documents of its manifests (server.documents)`)

/** Clients recognise this error by its message or its code. */
const notSupported = () =>
  new GraphQLError('PersistedQueryNotSupported', {
    extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', http: { spec: true, status: 400 } },
  })
