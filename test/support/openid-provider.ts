import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** A small OpenID provider: discovery, its public keys, and tokens signed with them. */
export interface OpenIdProvider {
  readonly issuer: string
  /**
   * Signs a token with these claims and the default ones: issuer, audience `berth`, a subject, and a validity of one
   * hour. `undefined` omits a claim.
   */
  token(
    claims: { [claim: string]: unknown },
    signing?: { key?: SigningKey; expiresInSeconds?: number },
  ): Promise<string>
  /** Publishes another key and uses it from now on. */
  rotate(): Promise<void>
  /** A key that is never published. */
  strangeKey(): Promise<SigningKey>
  close(): Promise<void>
}

export interface SigningKey {
  kid: string
  privateKey: CryptoKey
  publicKey: CryptoKey
}

const algorithm = 'ES256'
const hourSeconds = 3_600

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let keys = 0
  const newKey = async (): Promise<SigningKey> => ({ kid: `key-${++keys}`, ...(await generateKeyPair(algorithm)) })
  let current = await newKey()
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }))
      return
    }
    response.end(
      JSON.stringify({ keys: [{ ...(await exportJWK(current.publicKey)), kid: current.kid, alg: algorithm }] }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    async token(claims, { key = current, expiresInSeconds = hourSeconds } = {}) {
      const exp = Math.floor(Date.now() / 1_000) + expiresInSeconds
      const sub = `sub of ${String(claims['email'])}`
      return new SignJWT({ iss: issuer, aud: 'berth', sub, exp, ...claims })
        .setProtectedHeader({ alg: algorithm, kid: key.kid })
        .sign(key.privateKey)
    },
    async rotate() {
      current = await newKey()
    },
    strangeKey: newKey,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
