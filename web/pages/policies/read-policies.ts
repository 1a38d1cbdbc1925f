import {
  OneQuotaDocument,
  OneRuleDocument,
  type QuotaItemFragment,
  type RuleItemFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'

/** null: it does not exist, or the viewer may not see it. */
export async function readQuota(id: string, signal?: AbortSignal): Promise<QuotaItemFragment | null> {
  const { node } = await client.request(OneQuotaDocument, { id }, signal ? { signal } : {})
  return node?.__typename === 'Quota' ? node : null
}

export async function readRule(id: string, signal?: AbortSignal): Promise<RuleItemFragment | null> {
  const { node } = await client.request(OneRuleDocument, { id }, signal ? { signal } : {})
  return node?.__typename === 'ApprovalRule' ? node : null
}
