import type { TypedDocument } from '@berth-jobs/berth/client'
import { client } from './connection.ts'

interface Variables {
  id: string
}

/** Returns a function that reads an object by its id; null: it does not exist, or the viewer may not see it. */
export const createNodeReader =
  <Node extends { __typename: string }, const Name extends Node['__typename']>(
    document: TypedDocument<{ node: Node | null }, Variables>,
    name: Name,
  ) =>
  async (id: string, signal?: AbortSignal) => {
    const { node } = await client.request(document, { id }, signal ? { signal } : {})
    return node?.__typename === name ? (node as Extract<Node, { __typename: Name }>) : null
  }
