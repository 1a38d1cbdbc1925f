import { backupConditions } from './backup-conditions.ts'
import type { ConditionRule } from './condition.ts'
import { databaseConditions } from './database-conditions.ts'
import { machineConditions } from './machine-conditions.ts'
import { schedulingConditions } from './scheduling-conditions.ts'
import { serverConditions } from './server-conditions.ts'
import { webhookConditions } from './webhook-conditions.ts'

/**
 * The table of conditions: everything that an operator must know, one row each. Readers: `berth doctor`, `system {
 * conditions }`, the console, /readyz, the metric `berth_condition`, webhooks, ops/alerts.yaml and docs/alerts.md.
 *
 * To add a row, write it in the file of its subject (or a new file that is spread here), add a test with its fault to
 * test/operations (the title begins with `NAME: `), and run `npm run codegen`. A row needs no code elsewhere: one
 * server of the installation evaluates all rows every 10 s (evaluate.ts) and stores the result for all readers.
 *
 * Three tables have the results. `condition`: rows with evidence; `since` is null until `forSeconds` have passed.
 * `condition_event`: BEGAN and OVER, once per installation; `seq` is dense and grows in commit order, so a reader that
 * remembers the last `seq` misses none. `condition_check`: the last evaluation.
 */
const table = {
  ...schedulingConditions,
  ...machineConditions,
  ...databaseConditions,
  ...serverConditions,
  ...webhookConditions,
  ...backupConditions,
} satisfies Record<string, ConditionRule>

export type ConditionName = keyof typeof table

export const conditionRules: ReadonlyMap<string, ConditionRule> = new Map<string, ConditionRule>(Object.entries(table))
