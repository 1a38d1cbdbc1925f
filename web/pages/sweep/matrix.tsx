import { Link } from '@tanstack/react-router'
import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { useNow } from '../../ground/server-clock.ts'
import { metricUnit } from '../../parts/chart-units.ts'
import { formatDuration, formatPercent, plural } from '../../parts/format.ts'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { stateWords } from '../../parts/states.ts'
import styles from './sweep.module.css'
import { chooseHeatStep, measureRunMs, readLabel } from './sweep-axes.ts'

export const shows = [
  { name: 'state', title: 'state' },
  { name: 'duration', title: 'run time' },
  { name: 'progress', title: 'progress' },
  { name: 'metric', title: 'metric' },
] as const
export type Show = (typeof shows)[number]['name']

interface Axis {
  key: string
  values: readonly string[]
}

interface MatrixProps {
  jobs: readonly JobRow[]
  label: string
  x: Axis
  /** The vertical axis; null: only one label differs, so the matrix has one row. */
  y: Axis | null
  by: Show
  /** Returns the last value of the chosen metric; null: the job has none. */
  readMetric: (job: JobRow) => number | null
}

/** A matrix with a cell for each pair of values. A cell with several jobs shows the mean of their numbers. */
export function Matrix({ jobs, label, x, y, by, readMetric }: MatrixProps) {
  const nowMs = useNow()
  const lines = y?.values ?? [null]
  const numbers = {
    state: () => null,
    duration: (job: JobRow) => measureRunMs(job, nowMs),
    progress: (job: JobRow) => job.progress?.fraction ?? null,
    metric: readMetric,
  } satisfies Record<Show, (job: JobRow) => number | null>
  const read = numbers[by]
  const cells = lines.map((line) =>
    x.values.map((column) => {
      const found = jobs.filter(
        (job) => readLabel(job, x.key) === column && (!y || line === null || readLabel(job, y.key) === line),
      )
      const known = found.map(read).filter((each) => each !== null)
      const mean = known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length
      return { column, found, mean }
    }),
  )
  const all = cells.flat().map(({ mean }) => mean)
  return (
    <ScrollBox label="Matrix of the jobs">
      <table className={styles.matrix} aria-label={`Jobs by ${[x.key, y?.key].filter(Boolean).join(' and ')}`}>
        <thead>
          <tr>
            <th scope="col">{y ? `${y.key} \\ ${x.key}` : x.key}</th>
            {x.values.map((value) => (
              <th key={value} scope="col">
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((line, i) => (
            <tr key={lines[i] ?? ''}>
              <th scope="row">{lines[i]}</th>
              {line.map(({ column, found, mean }) => (
                <td key={column}>
                  <Cell
                    jobs={found}
                    search={[label, `${x.key}=${column}`, y && `${y.key}=${lines[i]}`].filter(Boolean).join(',')}
                    by={by}
                    mean={mean}
                    heat={chooseHeatStep(mean, all)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

interface CellProps {
  jobs: readonly JobRow[]
  search: string
  by: Show
  mean: number | null
  heat: number | null
}

function Cell({ jobs, search, by, mean, heat }: CellProps) {
  const [job] = jobs
  if (!job) return <span className={styles.faint}>–</span>
  const words = [...new Set(jobs.map(({ state }) => stateWords[state]))].join(', ')
  const formats = {
    duration: formatDuration,
    progress: formatPercent,
    metric: metricUnit.format,
  } satisfies Record<Exclude<Show, 'state'>, (value: number) => string>
  const text = by === 'state' ? words : mean === null ? '–' : formats[by](mean)
  const target =
    jobs.length === 1
      ? ({ to: '/jobs/$id', params: { id: job.id } } as const)
      : ({ to: '/jobs', search: { label: search } } as const)
  const states = new Set(jobs.map(({ state }) => state))
  return (
    <Link
      {...target}
      className={styles.cell}
      data-state={by === 'state' && states.size === 1 ? job.state : undefined}
      data-heat={by === 'state' ? undefined : (heat ?? 0)}
      title={jobs.length === 1 ? `${nameJob(job)}: ${words}` : `${plural(jobs.length, 'job')}: ${words}`}
    >
      {by === 'state' && states.size === 1 && <StateGlyph state={job.state} fraction={job.progress?.fraction} />}
      {text}
      {jobs.length > 1 && <small>× {jobs.length}</small>}
    </Link>
  )
}
