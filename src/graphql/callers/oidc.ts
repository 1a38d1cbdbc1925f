import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'
import type { UserLevel } from '../../domain/access.ts'
import { findForbiddenText } from '../../domain/parse.ts'
import type { Claims } from '../../domain/people/identity.ts'
import type { Time } from '../../platform/clock.ts'
import { Unavailable } from '../../platform/tx.ts'

export interface OidcRules {
  readonly issuer: string
  readonly audience: string
  /** Name of the claim that contains the user name. */
  readonly userClaim: string
  readonly levelClaim: string | null
  /** Levels by value of the claim; if several values match, the highest level counts. */
  readonly levels: Readonly<Record<string, UserLevel>>
  readonly teamsClaim: string | null
}

export type JwtVerdict = { claims: Claims; expiresAtMs: number } | 'expired' | 'unknown'

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const responseMsMax = 5_000
/** Minimum time between reads of the keys, because a forged token with an unknown key triggers a read. */
const keysCooldownMs = 1_000

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() })

/**
 * Checks the JWTs of an OpenID provider against its published keys. The keys are read when first needed, and again for
 * a token with an unknown key, because the provider may have rotated them. Only asymmetric signatures are accepted.
 */
export function createJwtCheck(rules: OidcRules, time: Time): (jwt: string) => Promise<JwtVerdict> {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined

  /** Reads the keys once. After a failure, the next caller reads them again. */
  function readKeys() {
    keys ??= discoverKeys(rules.issuer).catch((error: unknown) => {
      keys = undefined
      throw new Unavailable('The OpenID provider does not respond', { cause: error })
    })
    return keys
  }

  return async (jwt) => {
    const keySet = await readKeys()
    try {
      const { payload } = await jwtVerify(jwt, keySet, {
        issuer: rules.issuer,
        audience: rules.audience,
        algorithms,
        requiredClaims: ['exp', 'sub'],
        currentDate: new Date(time.nowMs()),
      })
      const claims = readClaims(payload, rules)
      return claims ? { claims, expiresAtMs: Number(payload.exp) * 1_000 } : 'unknown'
    } catch (error) {
      return describeFailure(error)
    }
  }
}

async function discoverKeys(issuer: string) {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(responseMsMax) })
  if (!response.ok) throw new Error(`${url} responded ${response.status}`)
  const found = discovery.parse(await response.json())
  if (found.issuer !== issuer) throw new Error(`${url} belongs to another issuer`)
  return createRemoteJWKSet(new URL(found.jwks_uri), {
    timeoutDuration: responseMsMax,
    cooldownDuration: keysCooldownMs,
  })
}

function describeFailure(error: unknown): JwtVerdict {
  if (error instanceof errors.JWTExpired) return 'expired'
  const provider = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || !isTokenError(error)
  if (provider) throw new Unavailable('The OpenID provider does not respond', { cause: error })
  return 'unknown'
}

/** true: the token is invalid. All other errors, including a bare JOSEError, are failures of the provider. */
const isTokenError = (error: unknown): boolean =>
  error instanceof errors.JOSEError && Object.getPrototypeOf(error) !== errors.JOSEError.prototype

/** Reads the claims; null: the name or subject is missing or cannot be stored, or the email address is not verified. */
function readClaims(payload: JWTPayload, rules: OidcRules): Claims | null {
  const { issuer, userClaim, levelClaim, levels, teamsClaim } = rules
  const name = readText(payload[userClaim])
  const subject = readText(payload.sub)
  if (name === null || subject === null || (userClaim === 'email' && payload['email_verified'] === false)) return null
  return {
    issuer,
    subject,
    name,
    displayName: readText(payload['name']),
    email: readText(payload['email']),
    level: levelClaim === null ? null : highest(readTexts(payload[levelClaim]).flatMap((value) => levels[value] ?? [])),
    teams: teamsClaim === null ? null : readTexts(payload[teamsClaim]),
  }
}

const ladder = ['ADMIN', 'LEAD', 'RESEARCHER', 'VIEWER'] as const satisfies readonly UserLevel[]
const highest = (found: readonly UserLevel[]): UserLevel => ladder.find((level) => found.includes(level)) ?? 'VIEWER'

const textMax = 255
const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= textMax && isText(value) ? value : null
const readTexts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string' && isText(each))
/**
 * false: the text contains characters such as lone surrogates; PostgreSQL would store different ones as the same
 * character.
 */
const isText = (value: string) => findForbiddenText(value, []).length === 0
