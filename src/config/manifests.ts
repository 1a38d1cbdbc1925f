import { ConfigError, isMap } from './value.ts'

const documentsMax = 20_000

/** Reads manifests of trusted documents: maps from ids to documents (graphql-codegen, Relay), or Apollo's lists. */
export function readManifests(
  paths: readonly string[],
  readFile: (path: string) => string,
): ReadonlyMap<string, string> {
  const byId = new Map<string, string>()
  for (const [i, path] of paths.entries()) {
    const key = `server.documents.manifests[${i}]`
    for (const [id, text] of entriesOf(parse(path, { readFile, key }), key)) {
      const reason = `has another text for ${JSON.stringify(id)} than a manifest before it`
      if ((byId.get(id) ?? text) !== text) throw wrong(key, reason, 'remove one of the two')
      byId.set(id, text)
    }
  }
  if (byId.size > documentsMax)
    throw wrong('server.documents.manifests', `has ${byId.size} documents`, `list at most ${documentsMax}`)
  return byId
}

function parse(path: string, { readFile, key }: { readFile: (path: string) => string; key: string }): unknown {
  try {
    return JSON.parse(readFile(path))
  } catch (error) {
    throw wrong(key, `${path} cannot be read (${error instanceof Error ? error.message : error})`, 'check the file')
  }
}

function entriesOf(manifest: unknown, key: string): [id: string, text: string][] {
  const remedy = 'use the output of graphql-codegen, Relay or generate-persisted-query-manifest'
  if (!isMap(manifest)) throw wrong(key, 'is not a map from ids to documents', remedy)
  const entries = manifest['format'] === 'apollo-persisted-query-manifest' ? operationsOf(manifest) : manifest
  return Object.entries(entries).map(([id, text]) => {
    if (typeof text !== 'string' || text === '')
      throw wrong(key, `has no text for the document ${JSON.stringify(id)}`, remedy)
    return [id, text]
  })
}

function operationsOf({ operations }: Record<string, unknown>): Record<string, unknown> {
  const entries = Array.isArray(operations) ? operations.filter(isMap) : []
  return Object.fromEntries(entries.map(({ id, body }) => [String(id), body]))
}

const wrong = (path: string, reason: string, remedy: string) => new ConfigError([{ path, reason, remedy }])
