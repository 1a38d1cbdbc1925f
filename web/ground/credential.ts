/** A token and, after a log-in by OpenID, how to renew it. */
export interface Credential {
  token: string
  /** null: unknown, because another page of the server (GraphiQL) stored the token. */
  userId: string | null
  /** null: the user must log in again when the token expires. */
  renewal: Renewal | null
}

export interface Renewal {
  issuer: string
  clientId: string
  scope: string
  refreshToken: string
  /** Which token of the provider the server accepts. */
  accepted: ProviderToken
  renewedAtMs: number
  renewAtMs: number
}

export type ProviderToken = 'access_token' | 'id_token'

/** GraphiQL uses the same key. */
const tokenKey = 'berth-token'
const detailKey = 'berth-log-in'

const nobody: Credential = { token: '', userId: null, renewal: null }

/** Reads the credential of this tab from `sessionStorage`. */
export function readCredential(): Credential {
  const token = sessionStorage.getItem(tokenKey) ?? ''
  const { token: known, ...detail } = JSON.parse(sessionStorage.getItem(detailKey) ?? '{}') as Partial<Credential>
  return known === token ? { ...nobody, ...detail, token } : { ...nobody, token }
}

export function storeCredential(credential: Credential): void {
  sessionStorage.setItem(tokenKey, credential.token)
  sessionStorage.setItem(detailKey, JSON.stringify(credential))
}

export function removeCredential(): void {
  for (const key of [tokenKey, detailKey]) sessionStorage.removeItem(key)
}
