import type { Policy } from '../src/domain/lanes.ts'
import { computeFigures, type Figures, type Judged, playKnownDay, playMixedDay, playNewDay } from './days.ts'

/** `npm run simulate -- estimates`: prints the errors of estimated starts over seeded days. */
const days: Record<string, { seeds: number; day: (seed: number, policy: Policy) => Judged[] }> = {
  '200 jobs, known run times': { seeds: 60, day: playKnownDay },
  'mixed day, unknown run times': { seeds: 20, day: playMixedDay },
  'new installation, stated limits': { seeds: 20, day: playNewDay },
}

const percent = (part: number) => `${(100 * part).toFixed(1)} %`
const text = ({ forecasts, medianWaitSeconds, medianError, bounded, covered }: Figures) =>
  `${forecasts} forecasts, median wait ${medianWaitSeconds.toFixed(0)} s, median error ${percent(medianError)}, p90 for ${percent(bounded)}, which started by it in ${percent(covered)}`

for (const [name, { seeds, day }] of Object.entries(days))
  for (const policy of ['PRIORITY', 'FAIR_SHARE'] as const) {
    const judged = Array.from({ length: seeds }, (_, at) => day(at + 1, policy)).flat()
    process.stdout.write(`${name}, ${policy}: ${text(computeFigures(judged))}\n`)
  }
