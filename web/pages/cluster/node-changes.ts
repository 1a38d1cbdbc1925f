import type { ClusterChangesSubscription, MapNodeFragment } from '../../generated/graphql.ts'

export type MapNode = MapNodeFragment
type Change = Extract<ClusterChangesSubscription['nodeUpdates'], { __typename: 'NodesChanged' }>
export type ClusterPool = Change['pool']

/** Applies a message of the stream to the nodes. */
export function applyNodeChange(
  known: ReadonlyMap<string, MapNode>,
  { isStart, nodes, removedIds }: Pick<Change, 'isStart' | 'nodes' | 'removedIds'>,
): Map<string, MapNode> {
  const next = new Map(isStart ? [] : known)
  for (const node of nodes) next.set(node.id, node)
  for (const id of removedIds) next.delete(id)
  return next
}
