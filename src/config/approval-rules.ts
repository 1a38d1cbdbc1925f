import { z } from 'zod'
import { executorDefault } from '../domain/executors.ts'
import { patternProblem } from '../domain/pattern.ts'
import {
  type ConfigProblem,
  flag,
  level,
  list,
  parseAmount,
  problemText,
  section,
  shortText,
  wholeNumber,
} from './value.ts'

/** `approvalRules:` of the configuration file: which submissions need an approval, with the names of the API. */

const yearSeconds = 31_536_000

/** Refuses patterns that cannot be matched in linear time, so that all problems of the file are reported together. */
const pattern = (example: string) =>
  z.custom<string>((input) => typeof input === 'string' && patternProblem(input) === null, {
    error: ({ input }) => {
      const why = typeof input === 'string' ? patternProblem(input) : 'is not a string'
      return problemText(
        `${JSON.stringify(input)} ${why}`,
        `for example ${example}; docs/quotas.md lists all conditions`,
      )
    },
  })

const condition = section({
  costAbove: parseAmount('cost', [0, 1e12], '50').optional(),
  hardware: pattern('"*h100*"').optional(),
  executor: shortText(executorDefault).optional(),
  levelNotIn: list(level).optional(),
  jobsPerDayAbove: wholeNumber(0, 2 ** 31 - 1, '20').optional(),
  firstJob: flag.optional(),
  name: pattern('"train-*"').optional(),
})

export const approvalRuleSection = section({
  name: shortText('expensive'),
  condition,
  priority: wholeNumber(-(2 ** 31 - 1), 2 ** 31 - 1, '10').default(0),
  enabled: flag.default(true),
  exemptLevels: list(level).default([]),
  requiredLevel: level.default('LEAD'),
  expiresAfterSeconds: wholeNumber(1, yearSeconds, '86400').default(86_400),
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
      return at('name', `${JSON.stringify(rule.name)} is defined twice`, 'give it another name')
    return []
  })
}
