import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider, { interactionPolicy } from 'oidc-provider'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * A real OpenID provider at `localhost`, which is another site than 127.0.0.1 of the servers. Its login page accepts
 * every name with every password.
 */
export class Issuer {
  readonly #server = createServer((request, response) => this.#handle(request, response))
  #respond: RequestListener = (_request, response) => response.writeHead(503).end()
  #key: SigningKey | undefined
  /** true: no refresh token is accepted. */
  hasEnded = false
  /** Creates other ID tokens than those of the provider. */
  forgery: Forgery | null = null
  /** Number of requests for tokens. */
  renewals = 0
  revocations = 0
  url = ''

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, 'localhost', resolve))
    this.url = `http://localhost:${(this.#server.address() as AddressInfo).port}`
    return this.url
  }

  /**
   * Allows the console at `consoleUrl` and the command line to log in, with ID tokens of this lifetime. A plain
   * provider has no device log-in and no revocation.
   */
  async serve(
    consoleUrl: string,
    { idTokenSeconds, isPlain = false }: { idTokenSeconds: number; isPlain?: boolean },
  ): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid: 'key-1', alg: 'RS256', use: 'sig' }
    this.#key = privateKey
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: 'berth-web',
          application_type: 'native',
          token_endpoint_auth_method: 'none',
          redirect_uris: [`${consoleUrl}/login/return`, 'http://127.0.0.1/callback'],
          grant_types: ['authorization_code', 'refresh_token', ...(isPlain ? [] : [deviceGrant])],
          response_types: ['code'],
        },
      ],
      jwks: { keys: [jwk] },
      interactions: { policy: askNativeClientsOnce() },
      cookies: { keys: ['a key of the tests'] },
      clientBasedCORS: () => true,
      // Claims are part of the ID token.
      conformIdTokenClaims: false,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, name: sub, email: `${sub}@example.org`, email_verified: true, groups: ['research'] }),
      }),
      issueRefreshToken: () => true,
      features: { revocation: { enabled: !isPlain }, deviceFlow: { enabled: !isPlain } },
      ttl: { IdToken: idTokenSeconds, AccessToken: 600, RefreshToken: 600, Grant: 600, Interaction: 600, Session: 600 },
    })
    this.#respond = provider.callback()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #handle(request: IncomingMessage, response: ServerResponse) {
    const isToken = request.method === 'POST' && request.url === '/token'
    if (isToken && this.hasEnded) {
      const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' }
      return response.writeHead(400, headers).end('{"error":"invalid_grant"}')
    }
    if (isToken) this.renewals++
    if (request.url === '/token/revocation') this.revocations++
    if (isToken && this.forgery) this.#forge(response, this.forgery)
    return this.#respond(request, response)
  }

  #forge(response: ServerResponse, forgery: Forgery): void {
    const end = response.end.bind(response)
    const replace = async (body: string) => {
      const answer = JSON.parse(body) as { id_token?: string }
      if (answer.id_token && this.#key) answer.id_token = await forgery(readClaims(answer.id_token), this.#key)
      const text = JSON.stringify(answer)
      response.setHeader('content-length', Buffer.byteLength(text))
      end(text)
    }
    response.end = ((body: unknown) => {
      void replace(String(body))
      return response
    }) as typeof response.end
  }
}

/** Otherwise a native client must consent at every log-in. The console uses the same client. */
function askNativeClientsOnce() {
  const policy = interactionPolicy.base()
  policy.get('consent').checks.remove('native_client_prompt')
  return policy
}

export type SigningKey = CryptoKey
export type Forgery = (claims: JWTPayload, key: SigningKey) => Promise<string>

export const readClaims = (jwt: string): JWTPayload =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

export const sign = (claims: JWTPayload, key: SigningKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key-1' }).sign(key)
