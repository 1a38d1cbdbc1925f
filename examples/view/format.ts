import type { JobState } from './generated/operations.ts'

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** "3 min. ago". An event may be newer than the second that is shown. */
export function ago(time: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1_000))
  if (seconds < 5) return 'now'
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? (['second', 1] as const)
  return relative.format(-Math.floor(seconds / size), unit)
}

/** "4 s", "2:05", "1:02:05" from one moment to another, or to now. */
export function lasted(from: string, to: string | null, nowMs: number): string {
  const seconds = Math.max(0, Math.floor(((to ? Date.parse(to) : nowMs) - Date.parse(from)) / 1_000))
  if (seconds < 60) return `${seconds} s`
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  const short = `${two(minutes % 60)}:${two(seconds % 60)}`
  return minutes >= 60 ? `${Math.floor(minutes / 60)}:${short}` : short.replace(/^0/, '')
}

export const titleOf = ({ name, id }: { name: string | null; id: string }) => name ?? id

export const stateWord = (state: JobState): string =>
  state === 'BLOCKED' ? 'Needs approval' : `${state[0]}${state.slice(1).toLowerCase()}`
