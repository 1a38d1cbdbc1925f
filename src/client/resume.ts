import type { Client, SubscribePayload } from 'graphql-ws'
import { failureOf, type GraphqlError, RequestFailed } from './failure.ts'

/**
 * Subscriptions that outlive their connection. graphql-ws subscribes again with the variables it was given, which would
 * replay everything; every message of Berth carries a cursor, so `after` is moved in place, on the very object that is
 * sent again. Together with the server's order that makes each message arrive exactly once.
 *
 * `after` moves when a message arrives, not when it is read, so that unread messages do not come a second time. A reader
 * slower than the server must not grow the heap: from `unreadMax` messages on the socket is paused. The server then sends
 * fewer and larger messages, or drops the connection, and the client resumes.
 */

export interface Resumable {
  after?: string | null | undefined
  lastLines?: number | null | undefined
  /** Pool of a stream of snapshots, which have no cursor: each one is complete. */
  pool?: string | null | undefined
}

export interface Flow {
  pause(): void
  resume(): void
  /** Waits before the next try; the wait grows with the failures in a row. */
  rest(failures: number): Promise<unknown>
}

const unreadMax = 64

/** Variables that move with the messages: call `advance` with the data of each. */
export function advancing<Variables extends Resumable>(variables: Variables) {
  const moving = { ...variables }
  return {
    variables: moving,
    advance(data: object) {
      const cursor = cursorOf(data)
      if (cursor === undefined) return
      moving.after = cursor
      delete moving.lastLines // the cursor replaces the starting point
    },
  }
}

function cursorOf(data: object): string | undefined {
  for (const message of Object.values(data) as unknown[])
    if (typeof message === 'object' && message !== null && 'cursor' in message && typeof message.cursor === 'string')
      return message.cursor
  return undefined
}

export interface Subscription<Variables> {
  query: string
  variables: Variables
}

/**
 * The messages of a subscription, over as many connections as it takes; ends when the server completes it. A server that
 * answers "not now" (its database is away) is asked again from the last cursor.
 */
export async function* followed<Result extends object, Variables extends Resumable>(
  client: Client,
  { query, variables }: Subscription<Variables>,
  flow: Flow,
): AsyncGenerator<Result, void, void> {
  const moving = advancing(variables)
  for (let failures = 0; ; failures++)
    try {
      for await (const message of subscribed<Result>(client, { query, moving }, flow)) {
        failures = 0
        yield message
      }
      return
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.code !== 'UNAVAILABLE') throw error
      await flow.rest(failures)
    }
}

interface Moving {
  query: string
  moving: ReturnType<typeof advancing<Resumable>>
}

async function* subscribed<Result extends object>(
  client: Client,
  { query, moving }: Moving,
  flow: Flow,
): AsyncGenerator<Result, void, void> {
  const unread: Result[] = []
  let end: { error?: unknown } | undefined
  let wake = () => {}
  const payload = { query, variables: moving.variables } as SubscribePayload
  const leave = client.subscribe<Result>(payload, {
    next({ data, errors }) {
      if (errors) end ??= { error: failureOf(errors as readonly GraphqlError[]) }
      else if (data && !end) {
        moving.advance(data)
        unread.push(data)
        if (unread.length >= unreadMax) flow.pause()
      }
      wake()
    },
    error(error) {
      end ??= { error: failureFrom(error) }
      wake()
    },
    complete() {
      end ??= {}
      wake()
    },
  })
  try {
    for (;;) {
      const message = unread.shift()
      if (message) yield message
      else if (end) break
      else {
        flow.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    if (end.error) throw end.error
  } finally {
    flow.resume()
    leave()
  }
}

/** What graphql-ws gives up with: errors of the operation, a fatal close, or a broken socket. */
function failureFrom(error: unknown): RequestFailed {
  if (Array.isArray(error)) return failureOf(error as GraphqlError[])
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number')
    return new RequestFailed(
      error.code === 4401 || error.code === 4403 ? 'UNAUTHENTICATED' : 'UNREACHABLE',
      `The server closed the connection (${error.code}${'reason' in error && error.reason ? `, ${error.reason}` : ''})`,
    )
  return new RequestFailed('UNREACHABLE', 'The connection broke', { cause: error })
}
