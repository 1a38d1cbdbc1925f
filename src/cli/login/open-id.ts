import * as client from 'openid-client'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { nowMs } from '../reading/times.ts'
import type { Context, OpenIdLogIn } from './context-files.ts'
import { openLoopback } from './loopback.ts'

/** Log-ins at an OpenID provider. This is the only file that imports `openid-client`. */

export interface Provider {
  issuer: string
  clientId: string
  scope: string
}

export type ProviderTokens = Pick<client.TokenEndpointResponse, 'access_token' | 'id_token' | 'refresh_token' | 'scope'>

const requestSecondsMax = 15
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** Reads the provider's configuration. Plain HTTP is allowed only for a provider on this machine. */
function discover({ issuer, clientId }: Provider): Promise<client.Configuration> {
  const url = new URL(issuer)
  const isLocal = loopbackHosts.includes(url.hostname)
  const execute = [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])]
  return client.discovery(url, clientId, undefined, client.None(), { timeout: requestSecondsMax, execute })
}

/** Logs in by the authorization code flow with PKCE. The provider redirects to a local port. */
export const logInWithBrowser = (provider: Provider, show: (url: string) => void): Promise<ProviderTokens> =>
  explainFailures(provider, async () => {
    const config = await discover(provider)
    const [verifier, state, nonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()]
    const loopback = await openLoopback(state)
    try {
      const request = {
        redirect_uri: loopback.redirectUri,
        scope: provider.scope,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      }
      show(client.buildAuthorizationUrl(config, request).href)
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce }
      return await client.authorizationCodeGrant(config, await loopback.returned, checks)
    } finally {
      await loopback.close()
    }
  })

/** Logs in by the device authorization grant: the user enters a code in a browser on any machine. */
export const logInWithDevice = (
  provider: Provider,
  show: (device: client.DeviceAuthorizationResponse) => void,
): Promise<ProviderTokens> =>
  explainFailures(provider, async () => {
    const config = await discover(provider)
    if (!config.serverMetadata().device_authorization_endpoint)
      throw usageError(
        `--device: the OpenID provider ${provider.issuer} does not offer it`,
        'use "berth login", or an API token with "berth login --token"',
      )
    const device = await client.initiateDeviceAuthorization(config, { scope: provider.scope })
    show(device)
    return client.pollDeviceAuthorizationGrant(config, device)
  })

/** Gets a new token; null: the provider ended the log-in. */
export const renewLogIn = (logIn: OpenIdLogIn & { refreshToken: string }): Promise<RenewedLogIn | null> =>
  explainFailures(logIn, async () => {
    const tokens = await client.refreshTokenGrant(await discover(logIn), logIn.refreshToken).catch(nullIfRefused)
    const token = tokens?.[logIn.accepted]
    if (!tokens || !token) return null
    return planRenewal({ ...logIn, refreshToken: tokens.refresh_token ?? logIn.refreshToken }, token)
  })

export type RenewedLogIn = { token: string; openId: OpenIdLogIn }

const passingErrors = ['server_error', 'temporarily_unavailable']

function nullIfRefused(error: unknown): null {
  if (error instanceof client.ResponseBodyError && !passingErrors.includes(error.error)) return null
  throw error
}

/** Revokes the refresh token; false: the provider has no endpoint for it. */
export const revokeLogIn = ({ openId }: Pick<Context, 'openId'>): Promise<boolean> => {
  if (!openId?.refreshToken) return Promise.resolve(false)
  const { refreshToken } = openId
  return explainFailures(openId, async () => {
    const config = await discover(openId)
    if (!config.serverMetadata().revocation_endpoint) return false
    await client.tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' })
    return true
  })
}

const lifeSecondsDefault = 300
const renewedPart = 0.75

/** Uses the lifetime of the token and not its expiry date, because the clock of this machine may be wrong. */
export function planRenewal(
  { issuer, clientId, scope, accepted, refreshToken }: Omit<OpenIdLogIn, 'renewAtMs' | 'expiresAtMs'>,
  token: string,
): RenewedLogIn {
  const { exp, iat } = readClaims(token)
  const lifeMs = (exp !== undefined && iat !== undefined ? exp - iat : lifeSecondsDefault) * 1_000
  const times = { renewAtMs: nowMs() + lifeMs * renewedPart, expiresAtMs: nowMs() + lifeMs }
  return { token, openId: { issuer, clientId, scope, accepted, refreshToken, ...times } }
}

export const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

const readClaims = (jwt: string): { exp?: number; iat?: number } =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

/** Calls `work`, and converts its errors to a Stop that says in one line what the provider did. */
async function explainFailures<T>({ issuer }: Pick<Provider, 'issuer'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError)
      throw new Stop(
        passingErrors.includes(error.error) ? exitCodes.retryable : exitCodes.notAllowed,
        `the OpenID provider ${issuer} refused the log-in: ${error.error_description ?? error.error}`,
        'run "berth login" again',
      )
    if (isUnreachable(error))
      throw new Stop(exitCodes.retryable, `the OpenID provider ${issuer} is unreachable`, 'try again in a moment')
    if (!(error instanceof client.ClientError)) throw error
    const { message, cause } = error
    const detail = cause instanceof Error && cause.message !== message ? ` (${cause.message})` : ''
    throw new Stop(exitCodes.refused, `the OpenID provider ${issuer} sent a wrong answer: ${message}${detail}`)
  }
}

const isUnreachable = (error: unknown): boolean =>
  (error instanceof TypeError && error.message === 'fetch failed') ||
  (error instanceof client.ClientError && error.code === 'OAUTH_TIMEOUT')
