import { resolveNodes } from '@pothos/plugin-relay'
import { capList } from '../../admission/argument-bounds.ts'
import { limits } from '../../caller-limits.ts'
import { parseType } from '../../rows/typed-id.ts'
import { builder } from './builder.ts'

/** Replaces `nodes` of the relay plugin, which has no cap. */
builder.queryField('nodes', (t) =>
  t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description:
      'The objects with these ids, in order, at most 100; null: the object does not exist, or you may not see it.',
    args: { ids: t.arg.idList({ required: true, ...capList(limits.nodesMax, 'Typed ids') }) },
    complexity: ({ ids }) => ({ field: 1, multiplier: Math.min(ids.length, limits.nodesMax) }),
    async resolve(_root, { ids }, context, info) {
      const nodes = await resolveNodes(
        builder,
        context,
        info,
        ids.map((id) => ({ id, typename: parseType(id) })),
      )
      return Promise.all(nodes)
    },
  }),
)
