import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { anonymous } from '../domain/access.ts'
import './bounds.ts'
import type { RequestContext } from './context.ts'
import { refusal } from './errors.ts'
import { typeOfId } from './typed-id.ts'

/** The one schema builder; every file of schema/ adds its noun to it. */
interface SchemaTypes {
  Context: RequestContext
  DefaultFieldNullability: false
  AuthScopes: { known: boolean }
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    UInt53: { Input: number; Output: number | bigint }
    JSONObject: { Input: Record<string, unknown>; Output: unknown }
    Cursor: { Input: string; Output: string }
  }
}

// The plugin knows only built-in scalars here; the schema says Cursor.
const cursorType = 'Cursor' as 'String'

export const builder = new SchemaBuilder<SchemaTypes>({
  // Order matters: what is first wraps all others, so nobody learns of a refusal before they may ask.
  plugins: [ScopeAuthPlugin, ErrorsPlugin, RelayPlugin, ComplexityPlugin, 'bounds'],
  defaultFieldNullability: false,
  scopeAuth: {
    authScopes: ({ viewer }) => ({ known: viewer !== anonymous }),
    authorizeOnSubscribe: true,
    unauthorizedError: () => refusal('UNAUTHENTICATED', 'Log in first'),
  },
  // Costs are counted once, before execution (limits.ts); the fields only carry their weights.
  complexity: { disabled: true },
  relay: {
    cursorType,
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: typeOfId(id), id }),
    idFieldOptions: { description: 'Typed id, unique over all nodes.' },
    nodeTypeOptions: { description: 'Anything with an id that `node` finds again.' },
    nodeQueryOptions: {
      description: 'The node with this id; null: not there, or not yours to see.',
      args: { id: { description: 'Typed id.' } },
    },
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    hasNextPageFieldOptions: { description: 'More follows.' },
    hasPreviousPageFieldOptions: { description: 'Something comes before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first node; null: the page is empty.' },
    endCursorFieldOptions: { description: 'Cursor of the last node; null: the page is empty.' },
    firstArgOptions: { description: 'Nodes from the beginning, 1 … 100 (default 20).' },
    afterArgOptions: { description: 'Begin after this cursor.' },
    lastArgOptions: { description: 'Nodes from the end, 1 … 100.' },
    beforeArgOptions: { description: 'End before this cursor.' },
  },
})

/** Who is known may ask; what they get is decided by the domain, field by field. */
export const known = { known: true } as const

builder.queryType({ description: 'Reading.', authScopes: known })
builder.mutationType({ description: 'Writing. Refusals are members of the result union.', authScopes: known })
builder.subscriptionType({ description: 'Live views over WebSocket or SSE.', authScopes: known })
