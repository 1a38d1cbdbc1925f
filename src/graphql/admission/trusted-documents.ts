import { createHash } from 'node:crypto'
import { GraphQLError } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import { anonymous, type Viewer } from '../../domain/access.ts'
import { refusal } from '../errors.ts'

/**
 * Trusted documents: operations that the server knows before they are asked, by id or by their very text. A request
 * names one by `documentId`, or by the hash in `extensions.persistedQuery` that Apollo and urql send. `freeText` says
 * who may also send a text that the server does not know.
 *
 * The server learns no document from a request. A client that tries to register one gets PERSISTED_QUERY_NOT_SUPPORTED,
 * and sends texts from then on.
 */

export type FreeText = 'ALL' | 'AUTHENTICATED' | 'NONE'

export interface TrustedDocuments {
  /** Texts by id, as the manifests of applications have them. */
  readonly byId: ReadonlyMap<string, string>
  readonly freeText: FreeText
}

export interface Documents {
  /** What is to be executed, without the names of a document. Throws a refusal. */
  resolve(params: GraphQLParams, viewer: Viewer): GraphQLParams
}

/** In a message. */
const idCharactersMax = 80

export function createDocuments({ byId, freeText }: TrustedDocuments): Documents {
  const texts = new Map([...byId].map(([id, text]) => [bare(id), text]))
  const known = new Set(texts.values())

  /** A run may send any text, because only three mutations are open to it. */
  const mayFreely = (viewer: Viewer) =>
    freeText === 'ALL' || viewer.run !== null || (freeText === 'AUTHENTICATED' && viewer !== anonymous)

  function byName({ id, isHash }: Name, viewer: Viewer): string {
    const text = texts.get(bare(id))
    if (text !== undefined) return text
    if (isHash && mayFreely(viewer)) throw notSupported()
    throw notTrusted(`The document ${shown(id)} is not known`)
  }

  function checkText(query: string, name: Name | null, viewer: Viewer): void {
    const text = name && texts.get(bare(name.id))
    if (name && (text == null ? name.isHash && sha256(query) !== bare(name.id) : text !== query))
      throw badRequest(`The document ${shown(name.id)} is another one than the text; send one of the two`)
    if (!mayFreely(viewer) && !known.has(query)) throw notTrusted('The document is not known')
  }

  return {
    resolve(params, viewer) {
      const { documentId, ...rest } = params as GraphQLParams & { documentId?: unknown }
      const name = nameOf(documentId, rest.extensions)
      const { query } = rest
      if (query === undefined || query === null || (query === '' && name)) {
        return name ? { ...rest, query: byName(name, viewer) } : rest
      }
      if (typeof query === 'string') checkText(query, name, viewer)
      return rest
    },
  }
}

interface Name {
  id: string
  /** Of the text, as automatic persisted queries have it. */
  isHash: boolean
}

function nameOf(documentId: unknown, extensions: unknown): Name | null {
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

/** Some manifests say by which function an id was made, and the requests of their clients do not. */
const bare = (id: string) => id.replace(/^sha256:/, '')

const shown = (id: string) => JSON.stringify(id.length > idCharactersMax ? `${id.slice(0, idCharactersMax)}…` : id)

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const badRequest = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } })

const notTrusted = (what: string) =>
  refusal('DOCUMENT_NOT_TRUSTED', `${what}; this server executes documents of its manifests (server.documents)`)

/** Clients look for this very message, or for the code. */
const notSupported = () =>
  new GraphQLError('PersistedQueryNotSupported', {
    extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', http: { spec: true, status: 400 } },
  })
