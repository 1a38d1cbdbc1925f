import { RequestFailed } from './failure.ts'

/**
 * A token, or what gives one. The function is asked before every request and connection, so it keeps what it has;
 * `refused` is the token that the server refused last, for which it should fetch a fresh one.
 */
export type TokenSource = string | ((refused: string | undefined) => string | Promise<string>)

export interface Tokens {
  current(signal?: AbortSignal): Promise<string | undefined>
  /** Whether there is another token than this refused one. */
  renew(refused: string | undefined, signal?: AbortSignal): Promise<boolean>
}

export function createTokens(source: TokenSource | undefined): Tokens {
  let last: string | undefined
  const current = async (signal?: AbortSignal) => {
    const token = (await given(source, last, signal))?.trim()
    if (token && !/^[\x21-\x7e]+$/.test(token))
      throw new RequestFailed('UNAUTHENTICATED', 'The token has characters that no token has', { token: 'REFUSED' })
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

/** A source that fails may work later, as a server may; one that throws a RequestFailed decides by itself. */
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
    throw new RequestFailed('UNREACHABLE', `There is no token: ${error}`, { cause: error })
  }
}

/** A source may wait for a person, or for ever. */
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
