import type { ApprovalConditionInput, Executor, RuleItemFragment, UserLevel } from '../../generated/graphql.ts'
import { formatCount, formatMoney } from '../../parts/format.ts'

/** The kinds of conditions. A rule has one condition. */
export type ConditionKind = keyof RuleItemFragment['condition']

interface ConditionText {
  title: string
  help: string
  input: 'number' | 'text' | 'levels' | 'yes'
}

export const conditionTexts: Readonly<Record<ConditionKind, ConditionText>> = {
  costAbove: {
    title: 'Costs more than',
    help: 'A job that may run without end costs more than any amount.',
    input: 'number',
  },
  hardware: {
    title: 'May get the hardware',
    help: 'Models of GPUs and processors: * stands for any characters.',
    input: 'text',
  },
  executor: {
    title: 'Runs on the executor',
    help: 'local, container, slurm, kubernetes, handler or simulated.',
    input: 'text',
  },
  levelNotIn: { title: 'Level of the user is none of', help: '', input: 'levels' },
  jobsPerDayAbove: { title: 'More jobs of the user in 24 hours than', help: 'With this one.', input: 'number' },
  firstJob: { title: 'First job of the user', help: '', input: 'yes' },
  name: { title: 'Name of the job', help: 'train-* or a regular expression as ^train-[0-9]+$', input: 'text' },
}

export const conditionKinds = Object.keys(conditionTexts) as ConditionKind[]

/** A condition as a form edits it. */
export interface ConditionDraft {
  kind: ConditionKind
  text: string
  levels: readonly UserLevel[]
}

export function toConditionDraft(condition: RuleItemFragment['condition'] | undefined): ConditionDraft {
  const kind =
    conditionKinds.find((each) => condition?.[each] !== null && condition?.[each] !== undefined) ?? 'costAbove'
  const value = condition?.[kind]
  return {
    kind,
    text: kind === 'levelNotIn' || value === null || value === undefined ? '' : String(value),
    levels: condition?.levelNotIn ?? [],
  }
}

/** Converts the draft to the input of the API; null: the value is missing. */
export function toCondition({ kind, text, levels }: ConditionDraft): ApprovalConditionInput | null {
  const value = text.trim()
  if (kind === 'levelNotIn') return levels.length > 0 ? { levelNotIn: [...levels] } : null
  if (kind === 'firstJob') return { firstJob: value !== 'false' }
  if (value === '') return null
  if (kind === 'costAbove') return { costAbove: Number(value) }
  if (kind === 'jobsPerDayAbove') return { jobsPerDayAbove: Number(value) }
  if (kind === 'hardware') return { hardware: value }
  if (kind === 'executor') return { executor: value.toUpperCase() as Executor }
  return { name: value }
}

/** "costs more than EUR 50.00". */
export function describeCondition(condition: RuleItemFragment['condition'], currency: string | null): string {
  const { costAbove, hardware, executor, levelNotIn, jobsPerDayAbove, firstJob, name } = condition
  if (costAbove !== null) return `costs more than ${formatMoney({ amount: costAbove, currency })}`
  if (hardware !== null) return `may get ${hardware}`
  if (executor !== null) return `runs on ${executor.toLowerCase()}`
  if (levelNotIn !== null) return `is of a user who is not ${levelNotIn.map((each) => each.toLowerCase()).join(' or ')}`
  if (jobsPerDayAbove !== null) return `comes after ${formatCount(jobsPerDayAbove)} jobs of its user in 24 hours`
  if (firstJob !== null) return firstJob ? 'is the first job of its user' : 'is not the first job of its user'
  return `is named ${name}`
}
