import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'
import type { UserLevel } from '../../domain/access.ts'
import { forbiddenText } from '../../domain/parse.ts'
import type { Claims } from '../../domain/people/identity.ts'
import type { Time } from '../../platform/clock.ts'
import { Unavailable } from '../../platform/tx.ts'

/**
 * Log-in by an OpenID provider: its JWTs are checked against the keys that it publishes (discovery, then JWKS, both
 * read when first needed). Only asymmetric signatures count: `none` and shared secrets are refused. A token of an
 * unknown key makes the keys be read again, so the provider may rotate them at any time.
 */

export interface OidcRules {
  readonly issuer: string
  readonly audience: string
  /** The claim that names a person. */
  readonly userClaim: string
  readonly levelClaim: string | null
  /** Value of that claim → level; several values: the highest. */
  readonly levels: Readonly<Record<string, UserLevel>>
  readonly teamsClaim: string | null
}

export type JwtVerdict = { claims: Claims; expiresAtMs: number } | 'expired' | 'unknown'

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const answerMsMax = 5_000
/** A stranger's token of an unknown key makes us ask the provider; at most so often. */
const keysCooldownMs = 1_000

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() })

export function createJwtCheck(rules: OidcRules, time: Time): (jwt: string) => Promise<JwtVerdict> {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined

  /** A provider that did not answer is asked again by the next caller. */
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
      const claims = claimsOf(payload, rules)
      return claims ? { claims, expiresAtMs: Number(payload.exp) * 1_000 } : 'unknown'
    } catch (error) {
      return verdictOf(error)
    }
  }
}

async function discoverKeys(issuer: string) {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(answerMsMax) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const found = discovery.parse(await response.json())
  if (found.issuer !== issuer) throw new Error(`${url} belongs to another issuer`)
  return createRemoteJWKSet(new URL(found.jwks_uri), { timeoutDuration: answerMsMax, cooldownDuration: keysCooldownMs })
}

function verdictOf(error: unknown): JwtVerdict {
  if (error instanceof errors.JWTExpired) return 'expired'
  const provider = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || !isJose(error)
  if (provider) throw new Unavailable('The OpenID provider does not respond', { cause: error })
  return 'unknown'
}

/**
 * Whether the error is about the token. Other errors, and a bare JOSEError, mean that the provider did not answer, or
 * answered badly.
 */
const isJose = (error: unknown): boolean =>
  error instanceof errors.JOSEError && Object.getPrototypeOf(error) !== errors.JOSEError.prototype

/** null: the token has no name or no subject that can be stored, or the provider says that the address is not verified. */
function claimsOf(payload: JWTPayload, rules: OidcRules): Claims | null {
  const { issuer, userClaim, levelClaim, levels, teamsClaim } = rules
  const name = textOf(payload[userClaim])
  const subject = textOf(payload.sub)
  if (name === null || subject === null || (userClaim === 'email' && payload['email_verified'] === false)) return null
  return {
    issuer,
    subject,
    name,
    displayName: textOf(payload['name']),
    email: textOf(payload['email']),
    level: levelClaim === null ? null : highest(listOf(payload[levelClaim]).flatMap((value) => levels[value] ?? [])),
    teams: teamsClaim === null ? null : listOf(payload[teamsClaim]),
  }
}

const ladder = ['ADMIN', 'LEAD', 'RESEARCHER', 'VIEWER'] as const satisfies readonly UserLevel[]
const highest = (found: readonly UserLevel[]): UserLevel => ladder.find((level) => found.includes(level)) ?? 'VIEWER'

const textMax = 255
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= textMax && isText(value) ? value : null
const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string' && isText(each))
/** Two subjects with lone surrogates would become one in PostgreSQL. */
const isText = (value: string) => forbiddenText(value, []).length === 0
