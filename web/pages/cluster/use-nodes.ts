import { ClusterChangesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { type Resource, useResource } from '../../ground/resource.ts'
import { applyNodeChange, type ClusterPool, type MapNode } from './node-changes.ts'

export interface Cluster {
  /** Nodes sorted by name. */
  nodes: readonly MapNode[]
  pool: ClusterPool
}

/** Collects messages for this time before it draws, because nodes arrive in several messages. */
const pictureMs = 50
const byName = new Intl.Collator('en', { numeric: true })

/** A live list of the nodes of a pool. */
export const useNodes = (pool: string): Resource<Cluster> =>
  useResource<Cluster>(`nodes ${pool}`, async (signal, put) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let nodes = new Map<string, MapNode>()
    for await (const { nodeUpdates } of client.subscribe(ClusterChangesDocument, { pool }, { signal })) {
      if (nodeUpdates.__typename !== 'NodesChanged') continue
      nodes = applyNodeChange(nodes, nodeUpdates)
      const { pool: facts } = nodeUpdates
      clearTimeout(timer)
      timer = setTimeout(() => put({ nodes: sortNodes(nodes), pool: facts }), pictureMs)
    }
  })

const sortNodes = (nodes: ReadonlyMap<string, MapNode>) =>
  [...nodes.values()].toSorted((a, b) => byName.compare(a.name, b.name))
