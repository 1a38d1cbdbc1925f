import type { Domain } from '../../domain/domain.ts'
import { limitDb } from '../../platform/limited-db.ts'
import { Unavailable } from '../../platform/tx.ts'
import { limits } from '../caller-limits.ts'
import { KeyedLimit } from '../keyed-limit.ts'

/**
 * Statements outside of lists share connections with the scheduler and all users. The number of concurrent statements of
 * each user is limited, so that one user with many requests leaves connections for others.
 */
export interface UserDomains {
  domainFor(userId: string): Domain
}

export function createUserDomains(domain: Domain, inFlightMax: number): UserDomains {
  const refusal = () =>
    new Unavailable(
      `${inFlightMax} database statements of your requests are in flight, and this one waited ` +
        `${limits.waitMsMax / 1_000} s for them; send fewer requests at a time`,
    )
  const inFlight = new KeyedLimit(inFlightMax, { msMax: limits.waitMsMax, refusal })
  return {
    domainFor: (userId) => ({
      ...domain,
      whole: domain,
      db: limitDb(domain.db, (work) => inFlight.run(userId, 1, work)),
    }),
  }
}
