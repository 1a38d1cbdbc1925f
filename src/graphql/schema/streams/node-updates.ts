import { type NodesChange, type NodesMessage, nodesPerMessage } from '../../../feed/node-watch.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../../rows/cursor.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns } from '../frame/fields.ts'
import { PoolNodeRef, PoolRef } from '../frame/refs.ts'
import { StreamHeartbeat } from './subscriptions.ts'

const NodesChanged = builder.objectRef<NodesChange>('NodesChanged').implement({
  description: 'Nodes of a pool that are new or changed, or were removed.',
  fields: (t) => ({
    ...exposeColumns(t, {
      isStart: ['Boolean', 'Whether the list begins with this message: forget the nodes of earlier messages.'],
      cursor: [
        'Cursor',
        'Pass this to `after` to continue from here. A pool that has changed since is sent from the start.',
      ],
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool, with its capacity, use and holds as they are now.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    nodes: t.field({
      type: [PoolNodeRef],
      description: 'The new and changed nodes as they are now, by name. At most 200.',
      complexity: { field: 1, multiplier: nodesPerMessage },
      async resolve({ ids }, _args, { load }) {
        const nodes = await Promise.all(ids.map((id) => load.node.load(id)))
        return nodes.filter((node) => node !== null)
      },
    }),
    removedIds: t.idList({
      description: 'The removed nodes. At most 200.',
      resolve: ({ removedIds }) => [...removedIds],
    }),
  }),
})

const NodeUpdatesMessage = builder.unionType('NodeUpdatesMessage', {
  description: 'Message of `nodeUpdates`.',
  types: [NodesChanged, StreamHeartbeat],
  resolveType: (message) => ('pool' in message ? NodesChanged : StreamHeartbeat),
})

builder.subscriptionField('nodeUpdates', (t) =>
  t.field({
    type: NodeUpdatesMessage,
    description:
      'Streams the nodes of a pool: all of them first, then those that changed, at most two changes a second. A new `lastSeenAt` alone is not sent.',
    args: {
      pool: t.arg.string({ required: true, description: 'Name of the pool.' }),
      after: t.arg({
        type: 'Cursor',
        description: 'Cursor of the newest message: nothing is sent until the pool changes.',
      }),
    },
    async subscribe(_root, { pool, after }, { nodeWatch, lastEventId = after }) {
      const cursor = lastEventId == null ? null : decodeCursor('nodes', lastEventId)
      if (cursor && cursor.o !== pool) throw invalidCursor()
      return nodeWatch.watch(pool, cursor?.h)
    },
    resolve: (message: NodesMessage, { pool }, { reportCursor }) => {
      const cursor = encodeCursor('nodes', { o: pool, h: message.cursor })
      reportCursor?.(cursor)
      return { ...message, cursor }
    },
  }),
)
