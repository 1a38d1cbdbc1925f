import { lazy, Suspense, useMemo, useState } from 'react'
import { loadPart } from '../ground/load-part.ts'
import { Button } from './button.tsx'
import type { TimeChartProps } from './chart-series.ts'
import { downloadCsv } from './csv.ts'
import { formatCount, formatDuration, formatExact } from './format.ts'
import styles from './time-chart.module.css'

const Plot = lazy(async () => ({ default: (await loadPart(() => import('./time-chart-plot.tsx'))).TimeChartPlot }))

const plotHeight = 180

const secondMs = 1_000
/** How positions on each kind of axis are formatted: in the chart, and in the first column of the CSV file. */
const places = {
  CLOCK: { text: formatExact, column: 'time', cell: (ms: number) => new Date(ms).toISOString() },
  ELAPSED: { text: formatDuration, column: 'seconds', cell: (ms: number) => ms / secondMs },
  STEP: { text: (step: number) => `step ${formatCount(step)}`, column: 'step', cell: (step: number) => step },
} as const

/** A chart of series over time. It shows the values under the pointer, and offers a table and a CSV file. */
export function TimeChart(props: TimeChartProps) {
  const { title, at, series, unit, axis = 'CLOCK', reference, height = plotHeight } = props
  const [hovered, setHovered] = useState<number | null>(null)
  const [isTable, setTable] = useState(false)
  const [isLog, setLog] = useState(false)
  const { text: formatAt, column, cell: cellAt } = places[axis]
  const download = () => {
    const head = [column, ...series.map(({ name }) => name)]
    downloadCsv(title, [head, ...at.map((each, i) => [cellAt(each), ...series.map(({ values }) => values[i] ?? null)])])
  }
  const hasValues = series.some(({ values }) => values.some((value) => value !== null))
  const atHovered = hovered === null ? undefined : at[hovered]
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.head}>
        <h3>{title}</h3>
        <span className={styles.at}>{atHovered !== undefined && formatAt(atHovered)}</span>
        {props.scale === 'FIT' && (
          <Button
            look="quiet"
            aria-pressed={isLog}
            title="Logarithmic scale; values that are not positive are left out"
            onClick={() => setLog(!isLog)}
          >
            Log
          </Button>
        )}
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
            <Plot {...props} isLog={isLog} height={height} onHover={setHovered} />
          </Suspense>
        </div>
      )}
      <ul className={styles.legend}>
        {series.map(({ name, color, values, isDashed }) => {
          const value =
            hovered !== null ? values[hovered] : axis === 'STEP' ? values.findLast((each) => each !== null) : null
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

function ValueTable({ title, at, series, unit, axis = 'CLOCK', height = plotHeight }: TimeChartProps) {
  const formatAt = places[axis].text
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: users scroll the table by keyboard
    <section className={styles.table} style={{ height }} aria-label={`Values of ${title}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{axis === 'STEP' ? 'Step' : 'Time'}</th>
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
