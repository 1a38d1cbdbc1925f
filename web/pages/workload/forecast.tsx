import { Link, useNavigate } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useReservations } from '../../features/machines/use-reservations.ts'
import { useNow } from '../../ground/server-clock.ts'
import { Button } from '../../parts/button.tsx'
import { fitCanvas } from '../../parts/canvas.ts'
import { useCanvasColors } from '../../parts/canvas-colors.ts'
import { formatClock, formatDuration, plural } from '../../parts/format.ts'
import { Table } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useSize } from '../../parts/use-size.ts'
import { drawForecast, type ForecastView, findRowAt, headHeight, rowHeight } from './draw-forecast.ts'
import styles from './forecast.module.css'
import { type Bar, type ForecastRow, listForecast } from './forecast-bars.ts'
import type { LineRow, WorkloadPanel } from './use-workload.ts'

const hourMs = 3_600_000
export const spans: Readonly<Record<string, number>> = { '1h': hourMs, '6h': 6 * hourMs, '24h': 24 * hourMs }
export const defaultSpan = '24h'
/** How often the drawing moves. */
const stepMs = 10_000

interface ForecastProps {
  panel: WorkloadPanel
  rows: readonly LineRow[]
  span: string
}

/** Shows when the jobs of the pool will run, as a drawing and as a table. */
export function Forecast({ panel, rows, span }: ForecastProps) {
  const { pool } = panel
  const [isTable, setTable] = useState(false)
  const nowMs = useNow(stepMs)
  const reservations = useReservations(pool.name)
  const shown = useMemo(
    () => listForecast(rows, { holds: pool.holds, reservations: reservations.value ?? [], nowMs }),
    [rows, pool.holds, reservations.value, nowMs],
  )
  const withoutEstimate = rows.length - shown.filter(({ jobId }) => jobId !== null).length
  return (
    <section aria-labelledby="forecast">
      <header className={styles.head}>
        <h2 id="forecast">Forecast</h2>
        <Tabs
          look="choice"
          label="Time shown"
          tabs={Object.keys(spans).map((each) => ({
            title: each.replace('h', ' h'),
            to: '/workload/$pool',
            params: { pool: pool.name },
            search: (before) => ({ ...before, span: each === defaultSpan ? undefined : each }),
            isShown: each === span,
          }))}
        />
        <Button look="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
      </header>
      {shown.length === 0 ? (
        <p className={styles.faint}>Nothing runs or waits with an estimate.</p>
      ) : isTable ? (
        <ForecastTable rows={shown} nowMs={nowMs} />
      ) : (
        <Picture rows={shown} nowMs={nowMs} spanMs={spans[span] ?? hourMs} />
      )}
      {withoutEstimate > 0 && (
        <p className={styles.faint}>{plural(withoutEstimate, 'waiting job')} without an estimate.</p>
      )}
    </section>
  )
}

const narrow = 640
const pictureHeightMax = 480

function Picture({ rows, nowMs, spanMs }: { rows: readonly ForecastRow[]; nowMs: number; spanMs: number }) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(box)
  const [scrollTop, setScrollTop] = useState(0)
  const [hovered, setHovered] = useState<number | null>(null)
  const navigate = useNavigate()
  const colors = useCanvasColors({
    ink: 'var(--ink)',
    faint: 'var(--faint)',
    line: 'var(--line)',
    surface: 'var(--surface)',
    hover: 'var(--hover)',
    RUNNING: 'var(--state-running)',
    QUEUED: 'var(--state-queued)',
    BLOCKED: 'var(--state-blocked)',
    hold: 'var(--faint)',
  })
  const whole = headHeight + rows.length * rowHeight
  const height = Math.min(whole, pictureHeightMax)
  const view: ForecastView = useMemo(
    () => ({ rows, width, height, scrollTop, nowMs, spanMs, nameWidth: width < narrow ? 120 : 240, hovered }),
    [rows, width, height, scrollTop, nowMs, spanMs, hovered],
  )
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || width === 0) return
    fitCanvas(context, width, height)
    drawForecast(context, view, colors)
  }, [view, colors, width, height])
  const find = ({ clientY }: MouseEvent) =>
    findRowAt(clientY - (canvas.current?.getBoundingClientRect().top ?? 0), view)
  const row = hovered === null ? undefined : rows[hovered]
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the table and the line have the same links */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table and the line have the same links */}
      <div
        ref={box}
        className={styles.picture}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: users scroll the drawing by keyboard
        tabIndex={0}
        style={{ height, cursor: row?.jobId ? 'pointer' : 'default' }}
        onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
        onMouseMove={(event) => setHovered(find(event))}
        onMouseLeave={() => setHovered(null)}
        onClick={(event) => {
          const id = rows[find(event) ?? -1]?.jobId
          if (id) void navigate({ to: '/jobs/$id', params: { id } })
        }}
      >
        <div style={{ height: whole }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={`Forecast of ${plural(rows.length, 'row')}; the button Table shows it as a table`}
            style={{ width, height }}
          />
        </div>
      </div>
      <p className={styles.detail} aria-live="off">
        {row
          ? `${row.title}${row.who && ` (${row.who})`}: ${row.bars.map((bar) => describeBar(bar, row, nowMs)).join('; ')}`
          : ' '}
      </p>
    </>
  )
}

/** "starts 14:20 to 15:05, runs up to 2 h 00 min". */
function describeBar({ kind, fromMs, toMs, latestStartMs }: Bar, { state }: ForecastRow, nowMs: number): string {
  const clock = (atMs: number) => formatClock(atMs, nowMs)
  const until = toMs === null ? 'without an end' : `until ${clock(toMs)}`
  if (kind === 'HOLD') return `nodes held ${until}`
  if (kind === 'RESERVATION') return `reserved ${clock(fromMs)} ${until}`
  if (state !== 'QUEUED' && state !== 'BLOCKED')
    return `${toMs === null ? 'runs without a limit' : `runs ${until} at most`}`
  const start = `starts ${clock(fromMs)}${latestStartMs === null ? '' : ` to ${clock(latestStartMs)}`}`
  return `${start}, ${toMs === null ? 'no run time limit' : `runs up to ${formatDuration(toMs - fromMs)}`}`
}

const ForecastTable = ({ rows, nowMs }: { rows: readonly ForecastRow[]; nowMs: number }) => (
  <Table
    label="Forecast"
    rows={rows}
    getKey={({ id }) => id}
    columns={[
      {
        title: 'Job or nodes',
        cell: ({ title, jobId }) =>
          jobId === null ? (
            title
          ) : (
            <Link to="/jobs/$id" params={{ id: jobId }} className={styles.link}>
              {title}
            </Link>
          ),
      },
      { title: 'Who', cell: ({ who }) => who, isSecondary: true },
      { title: 'When', cell: (row) => row.bars.map((bar) => describeBar(bar, row, nowMs)).join('; ') },
    ]}
  />
)
