import { RequestFailed } from './failure.ts'

/**
 * A token, or what gives one. The function is asked before every request and connection, so it keeps what it has;
 * `refused` is the token that the server refused last, for which it should fetch a fresh one.
 */
export type TokenSource = string | ((refused: string | undefined) => string | Promise<string>)

export interface Tokens {
  current(): Promise<string | undefined>
  /** Whether there is another token than this refused one. */
  renew(refused: string | undefined): Promise<boolean>
}

export function createTokens(source: TokenSource | undefined): Tokens {
  let last: string | undefined
  const current = async () => {
    const token = (await given(source, last))?.trim()
    if (token && !/^[\x21-\x7e]+$/.test(token))
      throw new RequestFailed('UNAUTHENTICATED', 'The token has characters that no token has', { token: 'REFUSED' })
    return token || undefined
  }
  return {
    current,
    async renew(refused) {
      last = refused
      return (await current()) !== refused
    },
  }
}

/** A source that fails may work later, as a server may; one that throws a RequestFailed decides by itself. */
async function given(source: TokenSource | undefined, refused: string | undefined): Promise<string | undefined> {
  if (typeof source !== 'function') return source
  try {
    return await source(refused)
  } catch (error) {
    if (error instanceof RequestFailed) throw error
    throw new RequestFailed('UNREACHABLE', `There is no token: ${error}`, { cause: error })
  }
}

export const bearer = (token: string | undefined): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {}
