import { formatDuration, plural } from '../../../parts/format.ts'

interface Affected {
  stateCategory: 'WAITING' | 'ACTIVE' | 'FINAL'
  startedAt: string | null
  finishedAt?: string | null
  currentRun: { startedAt: string | null }
}

/** Sums the run time of the current runs of these jobs, which a cancellation would lose. */
export function sumLostMs(jobs: readonly Affected[], nowMs: number): number {
  return jobs
    .filter(({ stateCategory }) => stateCategory === 'ACTIVE')
    .map(({ currentRun }) => (currentRun.startedAt === null ? 0 : nowMs - Date.parse(currentRun.startedAt)))
    .reduce((sum, ms) => sum + Math.max(0, ms), 0)
}

/** "Stops 3 running jobs, loses 4 h 10 min of work. 2 waiting jobs leave the queue." */
export function describeCancel(jobs: readonly Affected[], nowMs: number): string {
  const count = (category: Affected['stateCategory']) =>
    jobs.filter(({ stateCategory }) => stateCategory === category).length
  const [active, waiting, final] = [count('ACTIVE'), count('WAITING'), count('FINAL')]
  const lost = sumLostMs(jobs, nowMs)
  const sentences = [
    active > 0 &&
      `Stops ${plural(active, 'running job')}${lost >= 1_000 ? ` and loses ${formatDuration(lost)} of work` : ''}.`,
    waiting > 0 && `${plural(waiting, 'waiting job')} ${waiting === 1 ? 'leaves' : 'leave'} the queue.`,
    final > 0 &&
      `${plural(final, 'job')} already ended and ${final === 1 ? 'stays' : 'stay'} as ${final === 1 ? 'it is' : 'they are'}.`,
  ]
  return sentences.filter(Boolean).join(' ')
}
