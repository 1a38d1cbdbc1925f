import { Link } from '@tanstack/react-router'
import type { CSSProperties } from 'react'
import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { metricUnit } from '../../parts/chart-units.ts'
import { nameJob } from '../../parts/server-text.ts'
import styles from './parallel-coordinates.module.css'
import { readLabel } from './sweep-axes.ts'
import { type Best, type LastValues, titleMetric } from './sweep-metrics.ts'

interface ParallelCoordinatesProps {
  jobs: readonly JobRow[]
  /** Labels that differ between the jobs, with their sorted values. */
  axes: ReadonlyMap<string, readonly string[]>
  metric: { name: string; best: Best }
  values: LastValues
}

interface Axis {
  title: string
  marks: readonly { text: string; place: number }[]
  /** Returns the position on the axis, 0 (bottom) … 1 (top); undefined: the job has no value. */
  placeOf: (job: JobRow) => number | undefined
}

const middle = 0.5
const marksMax = 9

/** Draws a line for each job through its labels to its metric. The table below the chart has the same values. */
export function ParallelCoordinates({ jobs, axes, metric, values }: ParallelCoordinatesProps) {
  const metricAxis = toMetricAxis(jobs, metric.name, values)
  const title = titleMetric(metric.name, [...axes.keys()])
  const all = [...[...axes].map(([key, known]) => toLabelAxis(key, known)), { ...metricAxis, title }]
  const leftOf = (i: number) => (i / (all.length - 1)) * 100
  const rankOf = (job: JobRow) => {
    const place = metricAxis.placeOf(job) ?? 0
    return metric.best === 'highest' ? place : 1 - place
  }
  const drawn = jobs
    .map((job) => ({ job, rank: rankOf(job), places: all.map(({ placeOf }) => placeOf(job)) }))
    .filter(({ places }) => places.every((place) => place !== undefined))
    .toSorted((a, b) => a.rank - b.rank)
  return (
    <figure className={styles.figure} aria-label={`Parameters and ${metric.name}`}>
      <div className={styles.plot}>
        <svg className={styles.lines} viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          {drawn.map(({ job, rank, places }, i) => (
            <Link key={job.id} to="/jobs/$id" params={{ id: job.id }} tabIndex={-1}>
              <polyline
                className={styles.line}
                data-best={i === drawn.length - 1}
                style={{ '--rank': rank } as CSSProperties}
                points={places.map((place = 0, at) => `${leftOf(at)},${(1 - place) * 100}`).join(' ')}
              >
                <title>{`${nameJob(job)}: ${metric.name} ${metricUnit.format(values.get(job.id)?.get(metric.name) ?? 0)}`}</title>
              </polyline>
            </Link>
          ))}
        </svg>
        {all.map(({ title, marks }, i) => (
          <div key={title} className={styles.axis} style={{ left: `${leftOf(i)}%` }}>
            <span className={styles.mark}>{title}</span>
            {marks.map(({ text, place }) => (
              <span key={text} className={styles.mark} style={{ top: `${(1 - place) * 100}%` }}>
                {text}
              </span>
            ))}
          </div>
        ))}
      </div>
    </figure>
  )
}

/** Makes an axis with the values of a label at equal distances, because rates and sizes often differ by factors. */
function toLabelAxis(key: string, known: readonly string[]): Axis {
  const placeAt = (i: number) => (known.length === 1 ? middle : i / (known.length - 1))
  const each = Math.ceil(known.length / marksMax)
  return {
    title: key,
    marks: known.map((text, i) => ({ text, place: placeAt(i) })).filter((_, i) => i % each === 0),
    placeOf: (job) => {
      const at = known.indexOf(readLabel(job, key) ?? '')
      return at === -1 ? undefined : placeAt(at)
    },
  }
}

function toMetricAxis(jobs: readonly JobRow[], name: string, values: LastValues): Axis {
  const known = jobs.map(({ id }) => values.get(id)?.get(name)).filter((value) => value !== undefined)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const placeOf = (value: number) => (high === low ? middle : (value - low) / (high - low))
  const marks = [low, (low + high) / 2, high].map((value) => ({
    text: metricUnit.format(value),
    place: placeOf(value),
  }))
  return {
    title: name,
    marks: high === low ? marks.slice(0, 1) : marks,
    placeOf: ({ id }) => {
      const value = values.get(id)?.get(name)
      return value === undefined ? undefined : placeOf(value)
    },
  }
}
