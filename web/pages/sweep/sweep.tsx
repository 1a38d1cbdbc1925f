import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { confirmBulk } from '../../features/jobs/actions/confirm-bulk.tsx'
import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useNow } from '../../ground/server-clock.ts'
import { Button, buttonClasses } from '../../parts/button.tsx'
import { metricUnit } from '../../parts/chart-units.ts'
import { formatCount, formatDuration, plural } from '../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeEnd, states } from '../../parts/states.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Matrix, type Show, shows } from './matrix.tsx'
import { ParallelCoordinates } from './parallel-coordinates.tsx'
import styles from './sweep.module.css'
import { findAxes, measureRunMs, readLabel } from './sweep-axes.ts'
import { type Best, findTested, guessBest, type LastValues, sortByMetric, titleMetric } from './sweep-metrics.ts'
import { useLabelJobs } from './use-label-jobs.ts'
import { useLastValues } from './use-last-values.ts'

interface SweepSearch {
  x?: string
  y?: string
  by?: string
  metric?: string | undefined
  best?: string | undefined
}

/** The page of all jobs with a label: their differing labels, states and metrics. */
export function SweepPage() {
  const { key = '', value = '' } = useParams({ strict: false }) as { key?: string; value?: string }
  usePageTitle(`${key}=${value}`, { isJob: true })
  const { value: found, failure, read } = useLabelJobs(key, value)
  if (!found) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const { jobs, isCut } = found
  if (jobs.length === 0)
    return (
      <Empty
        title={`No job has the label ${key}=${value}`}
        actions={
          <Link to="/jobs" className={buttonClasses('plain')}>
            All jobs
          </Link>
        }
      >
        The sweep of the form gives all of its jobs a label, and <code>berth submit --label {`${key}=${value}`}</code>{' '}
        does.
      </Empty>
    )
  return <Sweep label={`${key}=${value}`} exceptKey={key} jobs={jobs} isCut={isCut} />
}

interface SweepProps {
  label: string
  exceptKey: string
  jobs: readonly JobRow[]
  isCut: boolean
}

function Sweep({ label, exceptKey, jobs, isCut }: SweepProps) {
  const axes = findAxes(jobs, exceptKey)
  const search = useSearch({ strict: false }) as SweepSearch
  const keys = [...axes.keys()]
  const x = search.x !== undefined && axes.has(search.x) ? search.x : keys[0]
  const y = search.y !== undefined && axes.has(search.y) ? search.y : keys.find((key) => key !== x)
  const unknown = [search.x, search.y].filter((key) => key !== undefined && !axes.has(key))
  const { value: values = new Map(), failure, read } = useLastValues(jobs)
  const names = [...new Set([...values.values()].flatMap((each) => [...each.keys()]))].toSorted()
  const metric = chooseMetric(names, search)
  const by: Show = shows.find(({ name }) => name === search.by && (name !== 'metric' || metric))?.name ?? 'state'
  return (
    <div className={styles.page}>
      <p className={styles.counts}>
        <Link to="/jobs" search={{ label }} className={styles.total}>
          {plural(jobs.length, 'job')}
        </Link>
        {states.map((state) => {
          const count = jobs.filter((job) => job.state === state).length
          return (
            count > 0 && (
              <Link key={state} to="/jobs" search={{ label, state: state.toLowerCase() }}>
                <StateChip state={state} detail={formatCount(count)} />
              </Link>
            )
          )
        })}
        <CancelButton jobs={jobs} />
        {isCut && <span>These are the newest; older ones are left out.</span>}
      </p>
      {unknown.length > 0 && (
        <p className={styles.faint} role="alert">
          No label {unknown.join(', ')} differs between these jobs. Another one is shown.
        </p>
      )}
      {x !== undefined && (
        <section aria-label="Matrix">
          <AxisChoices keys={keys} x={x} y={y} by={by} metric={metric?.name} />
          <Matrix
            jobs={jobs}
            label={label}
            x={{ key: x, values: axes.get(x) ?? [] }}
            y={y === undefined ? null : { key: y, values: axes.get(y) ?? [] }}
            by={by}
            readMetric={({ id }) => (metric && values.get(id)?.get(metric.name)) ?? null}
          />
        </section>
      )}
      {x === undefined && <p className={styles.faint}>The jobs have the same labels, so there is no matrix.</p>}
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {metric && (
        <section aria-label="Metrics">
          <MetricChoices names={names} metric={metric} />
          {keys.length > 0 && <ParallelCoordinates jobs={jobs} axes={axes} metric={metric} values={values} />}
        </section>
      )}
      <JobTable jobs={jobs} keys={keys} names={names} metric={metric} values={values} />
    </div>
  )
}

/** Cancels the unfinished jobs that the viewer may cancel. */
function CancelButton({ jobs }: { jobs: readonly JobRow[] }) {
  const unfinished = jobs.filter(({ allowedActions }) => allowedActions.includes('CANCEL'))
  if (unfinished.length === 0) return null
  return <Button onClick={() => confirmBulk('CANCEL', unfinished)}>Cancel {plural(unfinished.length, 'job')}…</Button>
}

interface ChosenMetric {
  name: string
  best: Best
}

/** Returns the metric that the URL names, or the default; null: no job reported a metric. */
function chooseMetric(names: readonly string[], search: SweepSearch): ChosenMetric | null {
  const name = names.find((each) => each === search.metric) ?? findTested(names)
  if (name === undefined) return null
  const { best } = search
  return { name, best: best === 'lowest' || best === 'highest' ? best : guessBest(name) }
}

interface AxisChoicesProps {
  keys: readonly string[]
  x: string
  y: string | undefined
  by: Show
  metric: string | undefined
}

function useChange() {
  const navigate = useNavigate()
  const params = useParams({ strict: false }) as { key: string; value: string }
  return (next: SweepSearch) =>
    void navigate({ to: '/sweeps/$key/$value', params, search: (before) => ({ ...before, ...next }), replace: true })
}

interface ChoiceProps {
  label: string
  value: string
  options: readonly (readonly [value: string, text: string])[]
  onChange: (value: string) => void
}

const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <label>
    {label}
    <select value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

const toOptions = (values: readonly string[]) => values.map((value) => [value, value] as const)

function MetricChoices({ names, metric }: { names: readonly string[]; metric: ChosenMetric }) {
  const change = useChange()
  const setMetric = (name: string) => change({ metric: name, best: undefined })
  return (
    <div className={styles.choices}>
      <Choice label="Best by" value={metric.name} options={toOptions(names)} onChange={setMetric} />
      <Choice
        label="Best is the"
        value={metric.best}
        options={toOptions(['lowest', 'highest'])}
        onChange={(best) => change({ best })}
      />
    </div>
  )
}

function AxisChoices({ keys, x, y, by, metric }: AxisChoicesProps) {
  const change = useChange()
  const options = toOptions(keys)
  const colors = shows
    .filter(({ name }) => name !== 'metric' || metric)
    .map(({ name, title }) => [name, (name === 'metric' && metric) || title] as const)
  return (
    <div className={styles.choices}>
      <Choice label="Across" value={x} options={options} onChange={(next) => change({ x: next })} />
      {y !== undefined && <Choice label="Down" value={y} options={options} onChange={(next) => change({ y: next })} />}
      <Choice label="Colour by" value={by} options={colors} onChange={(next) => change({ by: next })} />
    </div>
  )
}

interface JobTableProps {
  jobs: readonly JobRow[]
  keys: readonly string[]
  /** Names of the metrics that get columns. */
  names: readonly string[]
  metric: ChosenMetric | null
  values: LastValues
}

function JobTable({ jobs, keys, names, metric, values }: JobTableProps) {
  const nowMs = useNow()
  const change = useChange()
  const first = metric ? [metric.name, ...names.filter((name) => name !== metric.name)] : names
  const columns: readonly Column<JobRow>[] = [
    {
      title: 'Name',
      cell: ({ id, name }) => (
        <Link to="/jobs/$id" params={{ id }} className={styles.link}>
          {nameJob({ id, name })}
        </Link>
      ),
    },
    ...keys.map((key): Column<JobRow> => ({ title: key, cell: (job) => readLabel(job, key) })),
    ...first.map(
      (name): Column<JobRow> => ({
        title: titleMetric(name, keys),
        isNumber: true,
        order: name,
        isAscending: (name === metric?.name ? metric.best : guessBest(name)) === 'lowest',
        cell: ({ id }) => {
          const value = values.get(id)?.get(name)
          return value !== undefined && metricUnit.format(value)
        },
      }),
    ),
    {
      title: 'State',
      cell: (job) => <StateChip state={job.state} fraction={job.progress?.fraction} detail={describeEnd(job)} />,
    },
    {
      title: 'Ran',
      isNumber: true,
      cell: (job) => {
        const ms = measureRunMs(job, nowMs)
        return ms !== null && formatDuration(ms)
      },
    },
    { title: 'Progress', isSecondary: true, cell: ({ progress }) => progress?.message },
  ]
  const order = (job: JobRow) => keys.map((key) => readLabel(job, key) ?? '')
  const rows = jobs.toSorted((a, b) => {
    const [left, right] = [order(a), order(b)]
    const at = left.findIndex((value, i) => value !== right[i])
    return at === -1
      ? a.id.localeCompare(b.id)
      : (left[at] ?? '').localeCompare(right[at] ?? '', 'en', { numeric: true })
  })
  return (
    <ScrollBox label="All jobs">
      <div className={styles.wide}>
        <Table
          label="Jobs"
          columns={columns}
          rows={metric ? sortByMetric(rows, metric, values) : rows}
          getKey={({ id }) => id}
          order={metric?.name}
          onOrder={(name) => change({ metric: name, best: undefined })}
        />
      </div>
    </ScrollBox>
  )
}
