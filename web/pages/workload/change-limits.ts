import { ChangeLimitsDocument, type UpdateLimitsInput } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'

/** null: changed. Setting a limit twice is harmless, and `expectedVersion` keeps the change of another user. */
export async function changeLimits(input: UpdateLimitsInput): Promise<Refusal | null> {
  const { updateLimits } = await client.request(ChangeLimitsDocument, { input }, { attempts: 4 })
  return isRefused(updateLimits) ? toRefusal(updateLimits) : null
}
