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
  const current = async () => (typeof source === 'function' ? source(last) : source) || undefined
  return {
    current,
    async renew(refused) {
      last = refused
      return (await current()) !== refused
    },
  }
}

export const bearer = (token: string | undefined): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {}
