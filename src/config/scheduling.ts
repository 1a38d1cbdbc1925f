import type { z } from 'zod'
import { section } from './keys.ts'
import { flag, parseAmount, wholeNumber, word } from './value.ts'

const yearSeconds = 31_536_000
const seconds = (example: string) => parseAmount('seconds', [0, yearSeconds], example)
const countMax = 1_000_000

export const schedulingSection = section({
  graceSeconds: parseAmount('seconds', [1, 600], '30').default(30),
  maxStartAttempts: wholeNumber(1, 100, '3').default(3),
  nodeLostAfterSeconds: seconds('60').default(60),
  automatic: flag.optional(),
  starvationThresholdMinutes: parseAmount('minutes', [0.001, yearSeconds / 60], '60, or null for never')
    .nullable()
    .optional(),
  shareHalfLifeSeconds: parseAmount('seconds', [1, yearSeconds], '86400, or null to forget the past')
    .nullable()
    .optional(),
  rotationQuantumSeconds: seconds('3600, or null for no rotations').nullable().optional(),
  nonPreemptableFraction: parseAmount('parts of one', [0, 1], '0.25').optional(),
  minRunBeforePreemptSeconds: seconds('600').optional(),
  maxPreemptionsPerJob: wholeNumber(0, countMax, '2').optional(),
  maxPreemptionsPerMinute: wholeNumber(0, countMax, '60, or null for no limit').nullable().optional(),
  preemptLowerPriority: flag.optional(),
  onUnsatisfiable: word(['WAIT', 'FAIL']).optional(),
})

type Planning = ReturnType<typeof planningOf>
/** Settings of the planner. Missing keys have the defaults of the pool's policy. */
export type PlanningConfig = { readonly [Key in keyof Planning]?: Exclude<Planning[Key], undefined> }

export const toPlanningConfig = (file: z.output<typeof schedulingSection>): PlanningConfig =>
  Object.fromEntries(Object.entries(planningOf(file)).filter(([, given]) => given !== undefined))

function planningOf(file: z.output<typeof schedulingSection>) {
  const { rotationQuantumSeconds, minRunBeforePreemptSeconds, shareHalfLifeSeconds } = file
  const inMs = (given: number | undefined) => given && Math.round(given * 1_000)
  return {
    automatic: file.automatic,
    shareHalfLifeMs: shareHalfLifeSeconds === null ? null : inMs(shareHalfLifeSeconds),
    rotationQuantumMs: rotationQuantumSeconds === null ? -1 : inMs(rotationQuantumSeconds),
    nonPreemptableFraction: file.nonPreemptableFraction,
    minRunBeforePreemptMs: inMs(minRunBeforePreemptSeconds),
    maxPreemptionsPerJob: file.maxPreemptionsPerJob,
    maxPreemptionsPerMinute: file.maxPreemptionsPerMinute,
    preemptLowerPriority: file.preemptLowerPriority,
    onUnsatisfiable: file.onUnsatisfiable,
  }
}
