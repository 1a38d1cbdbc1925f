import { ErrorResponse, OidcClient, WebStorageStateStore } from 'oidc-client-ts'
import { baseUrl } from './base-url.ts'
import { decodeBase64Url } from './base64-url.ts'
import { findUserOfToken } from './check-token.ts'
import type { Credential, ProviderToken, Renewal } from './credential.ts'

/**
 * The log-in by the authorization code flow with PKCE. `sessionStorage` has the state, nonce and verifier until the
 * provider redirects back. This file is loaded only if the server has an OpenID provider.
 */
export interface Provider {
  issuer: string
  clientId: string
  scope: string
}

/** `path`: the page to return to. `closes`: close this tab afterwards, because another tab opened it for the log-in. */
export interface LogInRequest {
  path: string
  closes: boolean
}

export interface LogInResult extends LogInRequest {
  credential: Credential
}

/** A failed log-in. The message is a sentence for the user. */
export class LogInFailed extends Error {
  readonly request: LogInRequest | null

  constructor(text: string, request: LogInRequest | null, cause: unknown) {
    super(text, { cause })
    this.request = request
  }
}

const connect = ({ issuer, clientId, scope }: Provider) =>
  new OidcClient({
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${baseUrl}login/return`,
    scope,
    stateStore: new WebStorageStateStore({ prefix: 'berth-open-id.', store: sessionStorage }),
  })

/** Redirects to the log-in page of the provider. */
export async function beginLogIn(provider: Provider, request: LogInRequest): Promise<void> {
  const { url } = await connect(provider).createSigninRequest({ state: request, nonce: crypto.randomUUID() })
  location.assign(url)
}

/** Exchanges the code in `url`, to which the provider redirected, for a credential. */
export async function completeLogIn(provider: Provider, url: string): Promise<LogInResult> {
  const client = connect(provider)
  const request = await readRequest(client, url)
  const response = await client.processSigninResponse(url).catch((error: unknown) => {
    throw new LogInFailed(explainFailure(error), request, error)
  })
  for (const accepted of ['access_token', 'id_token'] as const) {
    const token = response[accepted]
    const userId = token && isJwt(token) ? await findUserOfToken(token) : null
    if (token && userId !== null) {
      const refreshToken = response.refresh_token
      const scope = response.scope ?? provider.scope
      const renewal = refreshToken ? planRenewal({ ...provider, scope, refreshToken, accepted }, token) : null
      return { ...request, credential: { token, userId, renewal } }
    }
  }
  const text = 'The provider knows you, but Berth refused its token. The log of the server says why.'
  throw new LogInFailed(text, request, null)
}

const passingErrors = ['server_error', 'temporarily_unavailable']

/** Gets a new token for the same user; null: the provider ended the log-in. Throws if the provider is unreachable. */
export async function renew(renewal: Renewal): Promise<Pick<Credential, 'token' | 'renewal'> | null> {
  const { refreshToken, accepted, scope } = renewal
  const profile = { sub: '', iss: renewal.issuer, aud: renewal.clientId, exp: 0, iat: 0 }
  const state = { refresh_token: refreshToken, session_state: null, scope, profile }
  try {
    const response = await connect(renewal).useRefreshToken({ state })
    const token = response[accepted]
    if (!token) return null
    return { token, renewal: planRenewal({ ...renewal, refreshToken: response.refresh_token ?? refreshToken }, token) }
  } catch (error) {
    if (error instanceof ErrorResponse && !passingErrors.includes(String(error.error))) return null
    throw error
  }
}

export const revoke = (renewal: Renewal): Promise<void> =>
  connect(renewal).revokeToken(renewal.refreshToken, 'refresh_token')

const isJwt = (token: string) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

const readClaims = (jwt: string): { exp?: number; iat?: number } =>
  JSON.parse(new TextDecoder().decode(decodeBase64Url(jwt.split('.')[1] ?? '')))

const lifeSecondsDefault = 300
const renewedPart = 0.75

/** Uses the lifetime of the token and not its expiry date, because the clock of this machine may be wrong. */
function planRenewal(base: Provider & { refreshToken: string; accepted: ProviderToken }, token: string): Renewal {
  const { exp, iat } = readClaims(token)
  const lifeSeconds = exp !== undefined && iat !== undefined ? exp - iat : lifeSecondsDefault
  const renewedAtMs = Date.now()
  return { ...base, renewedAtMs, renewAtMs: renewedAtMs + lifeSeconds * 1_000 * renewedPart }
}

async function readRequest(client: OidcClient, url: string): Promise<LogInRequest> {
  try {
    return (await client.readSigninResponseState(url)).state.data as LogInRequest
  } catch (error) {
    throw new LogInFailed('This return from the provider does not belong to a log-in of this tab.', null, error)
  }
}

function explainFailure(error: unknown): string {
  if (error instanceof ErrorResponse)
    return `The provider refused the log-in: ${error.error_description ?? error.error}.`
  if (error instanceof TypeError) return 'The provider is unreachable.'
  return 'The return from the provider is not valid.'
}
