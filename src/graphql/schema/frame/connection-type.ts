import type { ConnectionShape } from '../../rows/connection.ts'
import { countMax } from '../../rows/keyset.ts'
import { builder } from './builder.ts'

/** Cost of `totalCount`, which reads up to `countMax` rows once per list. */
export const countCost = { field: 0, once: 250 }

const countLimit = countMax.toLocaleString('en')

type NodeRef<Node> = ReturnType<typeof builder.objectRef<Node>>

/** Declares `<name>Connection` and `<name>Edge`. `Extra`: fields of the connection beyond its page. */
export function declareConnection<Node, Extra extends object = object>(name: string, node: NodeRef<Node>) {
  const edge = builder.objectRef<{ cursor: string; node: Node }>(`${name}Edge`).implement({
    description: `An item of a list of ${node.name}, with its cursor.`,
    fields: (t) => ({
      cursor: t.expose('cursor', { type: 'Cursor', description: 'Position in the list.' }),
      // The compiler cannot exclude that `Node` is a list or a promise.
      node: t.field({
        type: node,
        nullable: true,
        description: 'The item. The server never returns null here; caches do once the item was deleted.',
        resolve: (parent) => parent.node as never,
      }),
    }),
  })
  return builder.objectRef<ConnectionShape<Node> & Extra>(`${name}Connection`).implement({
    description: `A page of a list of ${node.name}.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: 'The items of this page with their cursors, in order.',
        // The cost of the connection field already includes the page size.
        complexity: { multiplier: 1 },
        resolve: (parent) => parent.edges,
      }),
      nodes: t.field({
        type: [node],
        description: 'The items of this page, in order.',
        complexity: { multiplier: 1 },
        resolve: (parent) => parent.edges.map((each) => each.node) as never,
      }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        description: 'Position of the page in its list.',
        resolve: (parent) => parent.pageInfo,
      }),
      totalCount: t.int({
        description: `Items in the whole list, counted up to ${countLimit}.`,
        complexity: countCost,
        resolve: async (parent) => (await parent.count()).count,
      }),
      isTotalExact: t.boolean({
        description: `false: the list has more than ${countLimit} items, and \`totalCount\` is ${countLimit}.`,
        complexity: countCost,
        resolve: async (parent) => (await parent.count()).isExact,
      }),
    }),
  })
}
