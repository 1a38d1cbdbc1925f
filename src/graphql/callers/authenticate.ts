import { anonymous, type Viewer, viewerOf } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import { createRunTokenCheck, isRunToken, viewerOfRun } from '../../domain/inside/run-tokens.ts'
import { personOf } from '../../domain/people/identity.ts'
import { createTokenCheck } from '../../domain/people/tokens.ts'
import { Unavailable } from '../../platform/tx.ts'
import { createJwtCheck, type OidcRules } from './oidc.ts'

/** The credentials of a request or a connection. */
export interface Credentials {
  /** `Bearer …`, from the header of that name or from connection_init. */
  authorization: string | undefined
  ip: string | null
}

/** The viewer; `unknown`: the credentials are not valid, or not any more; `expired`: fresh ones are accepted. */
export type Identified = { viewer: Viewer } | 'unknown' | 'expired'

/** Throws Unavailable if the database or the provider does not answer. */
export type Authenticate = (credentials: Credentials) => Promise<Identified>

/**
 * Single-user mode: every caller is the local user, with or without credentials, except a run that shows its token.
 * Once the mode has ended, every caller is refused.
 */
export function createSingleUser(domain: Domain, viewer: Viewer, hasEnded: () => boolean): Authenticate {
  const byRunToken = createByRunToken(domain)
  return async ({ authorization, ip }) => {
    if (hasEnded()) throw new Unavailable('Single-user mode has ended; the server starts again')
    const secret = secretOf(authorization)
    return secret !== undefined && isRunToken(secret) ? byRunToken(secret, ip) : { viewer: { ...viewer, ip } }
  }
}

function createByRunToken(domain: Domain) {
  const check = createRunTokenCheck(domain)
  return async (secret: string, ip: string | null): Promise<Identified> => {
    const run = await check(secret)
    return run ? { viewer: viewerOfRun(run, ip) } : 'unknown'
  }
}

/** In `connection_init` the text may have characters that no header has, and that PostgreSQL cannot store. */
const secretOf = (authorization: string | undefined) =>
  /^Bearer +([^\s\p{Cc}\p{Cs}]{1,8192})$/iu.exec(authorization ?? '')?.[1]

/** Whether the caller shows the token of a run. */
export function showsRunToken(authorization: string | undefined): boolean {
  const secret = secretOf(authorization)
  return secret !== undefined && isRunToken(secret)
}

/** API tokens, tokens of runs, and JWTs where a provider is configured. A request without credentials is anonymous. */
export function createAuthenticate(domain: Domain, oidc: OidcRules | null): Authenticate {
  const checkToken = createTokenCheck(domain)
  const byRunToken = createByRunToken(domain)
  const checkJwt = oidc && createJwtCheck(oidc, domain.time)

  async function byToken(secret: string, ip: string | null): Promise<Identified> {
    const checked = await checkToken(secret)
    if (checked === null) return 'unknown'
    if (checked.expired) return 'expired'
    const { person, scopes, prefix, expiresAt } = checked
    return { viewer: viewerOf(person, { scopes, ip, token: prefix, expiresAtMs: expiresAt?.getTime() ?? null }) }
  }

  async function byJwt(check: NonNullable<typeof checkJwt>, jwt: string, ip: string | null): Promise<Identified> {
    const verdict = await check(jwt)
    if (typeof verdict === 'string') return verdict
    const person = await personOf(domain, verdict.claims)
    return person ? { viewer: viewerOf(person, { ip, expiresAtMs: verdict.expiresAtMs }) } : 'unknown'
  }

  return async ({ authorization, ip }) => {
    if (authorization === undefined || authorization === '') return { viewer: anonymous }
    const secret = secretOf(authorization)
    if (secret === undefined) return 'unknown'
    if (isRunToken(secret)) return byRunToken(secret, ip)
    return checkJwt && jwtForm.test(secret) ? byJwt(checkJwt, secret, ip) : byToken(secret, ip)
  }
}

const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]*$/
