import type { Violation } from '../errors.ts'
import { findOptionRefusal, isOptionValue } from '../executors.ts'
import type { SpecInput } from '../input.ts'
import type { ExecutorReport } from '../machines/pool-report.ts'

/** Checks a submission against the report of its executor, which the process that runs the jobs of the pool stored. */

/** Lists unsupported attributes. Ignores attributes with the prefix of another executor. */
export function listAttributeViolations(
  { customAttributes }: SpecInput,
  report: ExecutorReport | undefined,
  executor: string,
): Violation[] {
  const prefix = `${executor}.`
  const known = report?.attributes
  if (!known) return []
  return Object.entries(customAttributes ?? {}).flatMap(([attribute, value]): Violation[] => {
    if (!attribute.startsWith(prefix)) return []
    const path = ['spec', 'customAttributes', attribute]
    const rules = { attributes: known, insteadOf: report.insteadOf ?? {} }
    const message = findOptionRefusal(attribute, attribute.slice(prefix.length), rules)
    if (message !== null) return [{ path, message }]
    if (isOptionValue(value)) return []
    return [{ path, message: `${JSON.stringify(value)} must be one line of text, a number, true or false` }]
  })
}

export function listDisplayViolations(
  { x11 }: SpecInput,
  report: ExecutorReport | undefined,
  executor: string,
): Violation[] {
  if (!x11 || report?.displays !== false) return []
  const message = `Executor ${executor} has no image for X11 displays; the configuration of the server must name one as ${executor}.x11Image`
  return [{ path: ['spec', 'x11'], message }]
}

export function listReportWarnings(
  { resources, maxRunTimeSeconds, durationSeconds }: SpecInput,
  report: ExecutorReport | undefined,
  { executor, queue, pool }: Record<'executor' | 'queue' | 'pool', string>,
): string[] {
  const { unenforced = [], secondsMax = {} }: Partial<ExecutorReport> = report ?? {}
  const asked = {
    memory: resources?.memoryBytes ?? resources?.memoryGib,
    cpu: resources?.cpu ?? resources?.cpuCoresPerProcess,
  }
  const limits = (['memory', 'cpu'] as const).filter(
    (limit) => asked[limit] !== undefined && asked[limit] !== null && unenforced.includes(limit),
  )
  const seconds = maxRunTimeSeconds ?? durationSeconds ?? 0
  const most = secondsMax[queue] ?? Number.POSITIVE_INFINITY
  return [
    // An unavailable backend causes only a warning, because it may be available when the job starts.
    ...(report?.available === false
      ? [`Executor ${executor} of pool ${pool} is not available now, and the job waits for it: ${report.message}`]
      : []),
    ...(report?.warnings ?? []),
    ...limits.map(
      (limit) => `${limit} is planned with, not enforced: executor ${executor} of pool ${pool} cannot limit it`,
    ),
    ...(seconds > most
      ? [
          `maxRunTimeSeconds ${seconds} exceeds the limit of queue ${queue}: executor ${executor} ends the job after ${most} s`,
        ]
      : []),
  ]
}
