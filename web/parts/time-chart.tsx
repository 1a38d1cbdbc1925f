import { lazy, Suspense, useMemo, useState } from 'react'
import { loadPart } from '../ground/load-part.ts'
import { Button } from './button.tsx'
import type { TimeChartProps } from './chart-series.ts'
import { downloadCsv } from './csv.ts'
import { formatDuration, formatExact } from './format.ts'
import styles from './time-chart.module.css'

const Plot = lazy(async () => ({ default: (await loadPart(() => import('./time-chart-plot.tsx'))).TimeChartPlot }))

const plotHeight = 180

/** Series over time, with their values under the pointer, as a table and as a file. */
export function TimeChart(props: TimeChartProps) {
  const { title, at, series, unit, isElapsed = false, reference, height = plotHeight } = props
  const [hovered, setHovered] = useState<number | null>(null)
  const [isTable, setTable] = useState(false)
  const formatAt = isElapsed ? formatDuration : formatExact
  const download = () => {
    const atCells = at.map((ms) => (isElapsed ? ms / 1_000 : new Date(ms).toISOString()))
    const head = [isElapsed ? 'seconds' : 'time', ...series.map(({ name }) => name)]
    downloadCsv(title, [head, ...atCells.map((cell, i) => [cell, ...series.map(({ values }) => values[i] ?? null)])])
  }
  const hasValues = series.some(({ values }) => values.some((value) => value !== null))
  const atHovered = hovered === null ? undefined : at[hovered]
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.head}>
        <h3>{title}</h3>
        <span className={styles.at}>{atHovered !== undefined && formatAt(atHovered)}</span>
        <Button look="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
        <Button look="quiet" onClick={download} disabled={at.length === 0}>
          CSV
        </Button>
      </figcaption>
      {!hasValues ? (
        <p className={styles.empty} style={{ height }}>
          {at.length === 0 ? 'Nothing was measured in this time.' : 'No values in this time.'}
        </p>
      ) : isTable ? (
        <ValueTable {...props} />
      ) : (
        <div style={{ height }} role="img" aria-label={`${title}; the button Table shows its values`}>
          <Suspense fallback={null}>
            <Plot {...props} height={height} onHover={setHovered} />
          </Suspense>
        </div>
      )}
      <ul className={styles.legend}>
        {series.map(({ name, color, values, isDashed }) => {
          const value = hovered === null ? undefined : values[hovered]
          return (
            <li key={name}>
              <span className={styles.key} data-dashed={isDashed} style={{ color }} />
              {name}
              {typeof value === 'number' && <b>{unit.format(value)}</b>}
            </li>
          )
        })}
        {reference && (
          <li>
            <span className={styles.key} data-dashed style={{ color: 'var(--faint)' }} />
            {reference.label}
          </li>
        )}
      </ul>
    </figure>
  )
}

function ValueTable({ title, at, series, unit, isElapsed, height = plotHeight }: TimeChartProps) {
  const formatAt = isElapsed ? formatDuration : formatExact
  const body = useMemo(
    () =>
      at.map((ms, i) => (
        <tr key={ms}>
          <th scope="row">{formatAt(ms)}</th>
          {series.map(({ name, values }) => (
            <td key={name}>{typeof values[i] === 'number' ? unit.format(values[i]) : '–'}</td>
          ))}
        </tr>
      )),
    [at, series, unit, formatAt],
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section className={styles.table} style={{ height }} aria-label={`Values of ${title}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{body}</tbody>
      </table>
    </section>
  )
}
