import { ChangeLimitsDocument, type UpdateLimitsInput } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'

/** Changes limits; null: changed. Retries are harmless, and `expectedVersion` protects changes of other users. */
export async function changeLimits(input: UpdateLimitsInput): Promise<Refusal | null> {
  const { updateLimits } = await client.request(ChangeLimitsDocument, { input }, { attempts: 4 })
  return isRefused(updateLimits) ? toRefusal(updateLimits) : null
}
