import type { z } from 'zod'
import { amount, type ConfigProblem, flag, list, section, text, whole, word } from './value.ts'

/** `approvalRules:` of the configuration file: when a submission needs a person's yes, with the names of the API. */
const level = word(['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'])
const yearSeconds = 31_536_000

const condition = section({
  costAbove: amount('cost', [0, 1e12], '50').optional(),
  hardware: text('"*h100*"').optional(),
  executor: text('slurm').optional(),
  levelNotIn: list(level).optional(),
  jobsPerDayAbove: whole(0, 2 ** 31 - 1, '20').optional(),
  firstJob: flag.optional(),
  name: text('"train-*"').optional(),
})

export const approvalRuleSection = section({
  name: text('expensive'),
  condition,
  priority: whole(-(2 ** 31 - 1), 2 ** 31 - 1, '10').default(0),
  enabled: flag.default(true),
  exemptLevels: list(level).default([]),
  requiredLevel: level.default('LEAD'),
  expiresAfterSeconds: whole(1, yearSeconds, '86400').default(86_400),
})

export type ApprovalRuleConfig = z.output<typeof approvalRuleSection>

export function checkApprovalRules(rules: readonly ApprovalRuleConfig[]): ConfigProblem[] {
  return rules.flatMap((rule, index) => {
    const at = (field: string, reason: string, remedy: string) => [
      { path: `approvalRules[${index}].${field}`, reason, remedy },
    ]
    const set = Object.values(rule.condition).filter((each) => each !== undefined).length
    if (set !== 1) return at('condition', `has ${set} conditions`, 'give exactly one, for example { costAbove: 50 }')
    if (rules.findIndex(({ name }) => name === rule.name) < index)
      return at('name', `${JSON.stringify(rule.name)} is there twice`, 'give it another name')
    return []
  })
}
