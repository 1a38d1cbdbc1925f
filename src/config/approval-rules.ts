import { z } from 'zod'
import { executorDefault } from '../domain/executors.ts'
import { findPatternProblem } from '../domain/pattern.ts'
import { findDuplicates, section } from './keys.ts'
import { type ConfigProblem, flag, formatProblem, level, list, parseAmount, shortText, wholeNumber } from './value.ts'

const yearSeconds = 31_536_000

/** Rejects patterns that need more than linear time, so that all problems of the file are reported together. */
const pattern = (example: string) =>
  z.custom<string>((input) => typeof input === 'string' && findPatternProblem(input) === null, {
    error: ({ input }) => {
      const why = typeof input === 'string' ? findPatternProblem(input) : 'is not a string'
      return formatProblem(
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
  const wrong = rules.flatMap(({ condition }, index) => {
    const set = Object.values(condition).filter((each) => each !== undefined).length
    const [reason, remedy] = [`has ${set} conditions`, 'give exactly one, for example { costAbove: 50 }']
    return set === 1 ? [] : [{ path: `approvalRules[${index}].condition`, reason, remedy }]
  })
  return [...wrong, ...findDuplicates('approvalRules', rules)]
}
