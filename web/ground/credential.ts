/** A token, and for a log-in by OpenID the way to renew it. */
export interface Credential {
  token: string
  /** null: another page of the server stored the token. */
  userId: string | null
  /** null: a person logs in again when the token ends. */
  renewal: Renewal | null
}

export interface Renewal {
  issuer: string
  clientId: string
  scope: string
  refreshToken: string
  /** The token of the provider that the server accepts. */
  accepted: ProviderToken
  renewedAtMs: number
  renewAtMs: number
}

export type ProviderToken = 'access_token' | 'id_token'

/** GraphiQL uses the same entry. */
const tokenKey = 'berth-token'
const detailKey = 'berth-log-in'

const nobody: Credential = { token: '', userId: null, renewal: null }

/** The credential of this tab, from `sessionStorage`. */
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
