import { RequestFailed } from './failure.ts'

/**
 * The token, or a function that is called before every request and connection. The function should cache its token
 * until the server refuses it.
 */
export type TokenSource = string | ((refused: string | undefined) => string | Promise<string>)

export type Tokens = ReturnType<typeof createTokens>

export function createTokens(source: TokenSource | undefined) {
  let last: string | undefined
  const current = async (signal?: AbortSignal) => {
    const token = (await given(source, last, signal))?.trim()
    if (token && !/^[\x21-\x7e]+$/.test(token))
      throw new RequestFailed('UNAUTHENTICATED', 'The token contains characters that are not allowed in a token', {
        token: 'REFUSED',
      })
    return token || undefined
  }
  return {
    current,
    /** Gets a new token. Returns true if it differs from the refused one. */
    async renew(refused: string | undefined, signal?: AbortSignal) {
      last = refused
      return (await current(signal)) !== refused
    },
  }
}

/**
 * Calls the token function. If it fails, the request is retried as for an unreachable server, unless the function
 * throws a RequestFailed.
 */
async function given(
  source: TokenSource | undefined,
  refused: string | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (typeof source !== 'function') return source
  try {
    return await unlessAborted(source(refused), signal)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof RequestFailed) throw error
    throw new RequestFailed('UNREACHABLE', `The token source failed: ${error}`, { cause: error })
  }
}

/** Ends the wait on abort, because the token function may wait for a person. */
function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', stop))
  })
}

export const bearerHeader = (token: string | undefined): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {}
