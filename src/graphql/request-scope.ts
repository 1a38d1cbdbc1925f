import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Identifies a request in its response, its errors, the log and the audit log. */
export interface RequestScope {
  readonly id: string
  /** Address of the client. */
  readonly ip: string | null
  /** Codes of the problems that its mutations returned. */
  readonly problems: string[]
}

const scopes = new AsyncLocalStorage<RequestScope | undefined>()

const idForm = /^[\w.-]{1,128}$/

/**
 * Keeps the id that the caller or a proxy gave, if it is short and plain enough for the log. Otherwise the request gets
 * a new one, in its headers too.
 */
export function identifyRequest({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  const id = typeof given === 'string' && idForm.test(given) ? given : randomUUID()
  headers['x-request-id'] = id
  return id
}

export function runRequest<Result>(id: string, ip: string | null, work: () => Result): Result {
  return scopes.run({ id, ip, problems: [] }, work)
}

/** Returns a function that runs work later in the scope of the current request. */
export function keepRequest(): <Args extends unknown[], Result>(
  work: (...args: Args) => Result,
  ...args: Args
) => Result {
  const scope = scopes.getStore()
  return (work, ...args) => scopes.run(scope, work, ...args)
}

/** Outside a request, for example in a message of a stream that several subscribers share, every call gets a new id. */
export const currentRequest = (): RequestScope => scopes.getStore() ?? { id: randomUUID(), ip: null, problems: [] }
