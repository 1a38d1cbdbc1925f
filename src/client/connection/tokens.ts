import { RequestFailed } from './failure.ts'

/**
 * A token, or a function that returns one. It is called before every request and connection, so it should cache its token;
 * `refused` is the token that the server refused last, and the function should fetch another.
 */
export type TokenSource = string | ((refused: string | undefined) => string | Promise<string>)

export interface Tokens {
  current(signal?: AbortSignal): Promise<string | undefined>
  /** Returns whether the source has another token than the refused one. */
  renew(refused: string | undefined, signal?: AbortSignal): Promise<boolean>
}

export function createTokens(source: TokenSource | undefined): Tokens {
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
    async renew(refused, signal) {
      last = refused
      return (await current(signal)) !== refused
    },
  }
}

/** A failed source is retried like an unreachable server, unless it throws a RequestFailed of its choice. */
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

/** A source may wait for a person. */
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
