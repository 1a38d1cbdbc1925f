import { type AuditItemFragment, ObjectNamesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { readInParts } from '../../ground/read-in-parts.ts'
import { useResource } from '../../ground/resource.ts'

const idsPerRead = 100
const none: ReadonlyMap<string, string> = new Map()

/** Reads the names of the objects in these entries. The result lacks objects that no longer exist. */
export function useObjectNames(entries: readonly AuditItemFragment[]): ReadonlyMap<string, string> {
  const ids = [...new Set(entries.flatMap(({ objectId }) => objectId ?? []))].toSorted()
  const read = async (signal: AbortSignal) => {
    const found = await readInParts(
      ids,
      idsPerRead,
      async (some) => (await client.request(ObjectNamesDocument, { ids: some }, { signal })).nodes,
    )
    return new Map(
      found.flatMap((node) => {
        const name = node && ('jobName' in node ? node.jobName : 'name' in node ? node.name : null)
        return name ? [[node.id, name] as const] : []
      }),
    )
  }
  return useResource(`names ${ids.join()}`, read, { isOff: ids.length === 0 }).value ?? none
}
