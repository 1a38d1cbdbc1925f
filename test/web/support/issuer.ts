import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/**
 * A real OpenID provider at `localhost`, which is another site than the 127.0.0.1 of the servers. Its login page accepts
 * each name with each password.
 */
export class Issuer {
  readonly #server = createServer((request, response) => this.#handle(request, response))
  #respond: RequestListener = (_request, response) => response.writeHead(503).end()
  /** true: no refresh token is accepted. */
  hasEnded = false
  renewals = 0
  url = ''

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, 'localhost', resolve))
    this.url = `http://localhost:${(this.#server.address() as AddressInfo).port}`
    return this.url
  }

  /** Serves the console at `consoleUrl` with ID tokens that live so long. */
  async serve(consoleUrl: string, { idTokenSeconds }: { idTokenSeconds: number }): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: 'berth-web',
          token_endpoint_auth_method: 'none',
          redirect_uris: [`${consoleUrl}/login/return`],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      jwks: { keys: [jwk] },
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
      features: { revocation: { enabled: true } },
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
    return this.#respond(request, response)
  }
}
