import type { ClusterChangesSubscription, MapNodeFragment } from '../../generated/graphql.ts'

export type MapNode = MapNodeFragment
type Change = Extract<ClusterChangesSubscription['nodeUpdates'], { __typename: 'NodesChanged' }>
export type ClusterPool = Change['pool']

/** The nodes after a message. */
export function applyChange(
  known: ReadonlyMap<string, MapNode>,
  { isStart, nodes, removedIds }: Pick<Change, 'isStart' | 'nodes' | 'removedIds'>,
): Map<string, MapNode> {
  const next = new Map(isStart ? [] : known)
  for (const node of nodes) next.set(node.id, node)
  for (const id of removedIds) next.delete(id)
  return next
}
