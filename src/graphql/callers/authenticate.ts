import { anonymous, createViewer, type Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import { createRunTokenCheck, createRunViewer, isRunToken } from '../../domain/inside/run-tokens.ts'
import { resolvePerson } from '../../domain/people/identity.ts'
import { createTokenCheck } from '../../domain/people/tokens.ts'
import { Unavailable } from '../../platform/tx.ts'
import { createJwtCheck, type JwtVerdict, type OidcRules } from './oidc.ts'

export interface Credentials {
  /** `Bearer …`, from the Authorization header or from connection_init. */
  authorization: string | undefined
  ip: string | null
  requestId: string | null
}

type Origin = Pick<Credentials, 'ip' | 'requestId'>

/** `unknown`: the credentials are invalid or revoked. `expired`: the caller should retry with a new token. */
export type Identification = { viewer: Viewer } | 'unknown' | 'expired'

export type Authenticator = (credentials: Credentials) => Promise<Identification>

/** Authenticates every caller as the local user, except a run that sends its token. */
export function createSingleUserAuthenticator(domain: Domain, viewer: Viewer, hasEnded: () => boolean): Authenticator {
  const identifyRun = createRunIdentification(domain)
  return async ({ authorization, ip, requestId }) => {
    if (hasEnded()) throw new Unavailable('Single-user mode has ended; the server restarts')
    const secret = readSecret(authorization) ?? ''
    return isRunToken(secret) ? identifyRun(secret, { ip, requestId }) : { viewer: { ...viewer, ip, requestId } }
  }
}

function createRunIdentification(domain: Domain) {
  const check = createRunTokenCheck(domain)
  return async (secret: string, origin: Origin): Promise<Identification> => {
    const run = await check(secret)
    return run ? { viewer: createRunViewer(run, origin) } : 'unknown'
  }
}

/** Reads the secret. In `connection_init` it may contain characters that PostgreSQL cannot store. */
const readSecret = (authorization: string | undefined) =>
  /^Bearer +([^\s\p{Cc}\p{Cs}]{1,8192})$/iu.exec(authorization ?? '')?.[1]

export const hasRunToken = (authorization: string | undefined): boolean => isRunToken(readSecret(authorization) ?? '')

/** Accepts API tokens, tokens of runs and, with a provider, JWTs. A request without credentials is anonymous. */
export function createAuthenticator(domain: Domain, oidc: OidcRules | null): Authenticator {
  const checkToken = createTokenCheck(domain)
  const identifyRun = createRunIdentification(domain)
  const checkJwt = oidc && createJwtCheck(oidc, domain.time)

  async function identifyByToken(secret: string, origin: Origin): Promise<Identification> {
    const checked = await checkToken(secret)
    if (checked === null) return 'unknown'
    if (checked.expired) return 'expired'
    const { person, scopes, prefix, expiresAt } = checked
    const expiresAtMs = expiresAt?.getTime() ?? null
    return { viewer: createViewer(person, { ...origin, scopes, token: prefix, expiresAtMs }) }
  }

  async function identifyByJwt(verdict: JwtVerdict, origin: Origin): Promise<Identification> {
    if (typeof verdict === 'string') return verdict
    const person = await resolvePerson(domain, verdict.claims)
    return person ? { viewer: createViewer(person, { ...origin, expiresAtMs: verdict.expiresAtMs }) } : 'unknown'
  }

  return async ({ authorization, ...origin }) => {
    if (authorization === undefined || authorization === '') return { viewer: anonymous }
    const secret = readSecret(authorization)
    if (secret === undefined) return 'unknown'
    if (isRunToken(secret)) return identifyRun(secret, origin)
    return checkJwt && jwtPattern.test(secret)
      ? identifyByJwt(await checkJwt(secret), origin)
      : identifyByToken(secret, origin)
  }
}

const jwtPattern = /^[\w-]+\.[\w-]+\.[\w-]*$/
