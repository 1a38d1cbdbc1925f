import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { anonymous } from '../../../domain/access.ts'
import { Refusal } from '../../../domain/errors.ts'
import '../../admission/argument-bounds.ts'
import { fieldCost, listMultiplier } from '../../caller-limits.ts'
import { refusal } from '../../errors.ts'
import { currentRequest } from '../../request-scope.ts'
import type { RequestContext } from '../../rows/context.ts'
import './output-caps.ts'
import { parseType } from '../../rows/typed-id.ts'
import './unavailable.ts'

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

// The type of the option allows only built-in scalars.
const cursorType = 'Cursor' as 'String'

export const builder = new SchemaBuilder<SchemaTypes>({
  // The first plugin wraps the others, so authorization precedes every refusal.
  plugins: [ScopeAuthPlugin, ErrorsPlugin, RelayPlugin, ComplexityPlugin, 'unavailable', 'bounds', 'outputCaps'],
  defaultFieldNullability: false,
  scopeAuth: {
    authScopes: ({ viewer }) => ({ known: viewer !== anonymous }),
    authorizeOnSubscribe: true,
    unauthorizedError: () => refusal('UNAUTHENTICATED', 'Authentication required; log in and send a token'),
  },
  errors: { onResolvedError: noteProblem },
  // The server counts costs before execution; fields only declare their weights.
  complexity: { disabled: true, defaultComplexity: fieldCost, defaultListMultiplier: listMultiplier },
  relay: {
    cursorType,
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: parseType(id), id }),
    idFieldOptions: { description: 'Typed id, unique among all objects.' },
    nodeTypeOptions: { description: 'An object with an id that `node` can look up.' },
    nodeQueryOptions: {
      description: 'The object with this id; null: the object does not exist, or you may not see it.',
      args: { id: { description: 'Typed id.' } },
    },
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: 'Position of a page in its list.' },
    hasNextPageFieldOptions: { description: 'Whether more items follow.' },
    hasPreviousPageFieldOptions: { description: 'Whether items precede this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first item; null: the page is empty.' },
    endCursorFieldOptions: { description: 'Cursor of the last item; null: the page is empty.' },
    firstArgOptions: { description: 'Number of items from the start, 1 … 100 (default 20).' },
    afterArgOptions: { description: 'Start after this cursor.' },
    lastArgOptions: { description: 'Number of items from the end, 1 … 100.' },
    beforeArgOptions: { description: 'End before this cursor.' },
  },
})

/** Notes the code of a problem for the log. Only refusals and Unavailable become problems, and these have codes. */
function noteProblem(error: Error) {
  currentRequest().problems.push(error instanceof Refusal ? error.code : 'UNAVAILABLE')
}

/** Requires a known user; the domain checks permissions. */
export const known = { known: true } as const

builder.queryType({ description: 'All reads.', authScopes: known })
builder.mutationType({
  description: 'All changes. Expected failures are members of the result union.',
  authScopes: known,
})
builder.subscriptionType({ description: 'Live streams over WebSocket or SSE.', authScopes: known })
