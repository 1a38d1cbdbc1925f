import type { Settings } from '../../ground/settings.ts'

export const nextTimes = { OFF: 'EXACT', EXACT: 'RELATIVE', RELATIVE: 'OFF' } as const satisfies Record<
  Settings['logTimes'],
  Settings['logTimes']
>

const exactClock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

/** "14:02:11.004" in the local time zone. */
export const formatLineTime = (atMs: number): string => exactClock.format(atMs)

const two = (value: number) => String(value).padStart(2, '0')

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** "+1:02:03.4" since the start of the run. */
export function formatElapsed(ms: number): string {
  const elapsed = Math.max(0, ms)
  const hours = Math.floor(elapsed / hourMs)
  const minutes = Math.floor((elapsed % hourMs) / minuteMs)
  const seconds = Math.floor((elapsed % minuteMs) / secondMs)
  const tenth = Math.floor((elapsed % secondMs) / 100)
  return `+${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds)}.${tenth}`
}
