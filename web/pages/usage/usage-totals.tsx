import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMemo } from 'react'
import type { UsageBy } from '../../generated/graphql.ts'
import { Button } from '../../parts/button.tsx'
import { secondsUnit } from '../../parts/chart-units.ts'
import { downloadCsv } from '../../parts/csv.ts'
import { formatCount, formatDuration, formatMoney, formatTenth } from '../../parts/format.ts'
import { Table } from '../../parts/table.tsx'
import type { Usage } from './read-usage.ts'
import styles from './usage.module.css'
import type { UsageRange } from './usage-range.ts'
import { listTotals, nameKey, type Total } from './usage-series.ts'

interface UsageTotalsProps {
  usage: Usage
  range: UsageRange
  by: UsageBy
  search: { pool?: string | undefined }
}

const round = (hours: number) => (hours < 100 ? formatTenth(hours) : formatCount(Math.round(hours)))
const wait = (seconds: number | null) => (seconds === null ? '–' : secondsUnit.format(seconds))

/** A table of the totals of each key, with links to the jobs. */
export function UsageTotals({ usage, range, by, search }: UsageTotalsProps) {
  const totals = useMemo(() => listTotals(usage.whole), [usage.whole])
  const download = () =>
    downloadCsv(`usage by ${by}`, [
      [
        by.toLowerCase(),
        'gpu hours',
        'core hours',
        'started',
        'finished',
        'failed',
        'wait p50 s',
        'wait p95 s',
        'cost',
        'currency',
      ],
      ...totals.map((total) => [
        nameKey(total.key),
        total.gpuHours,
        total.coreHours,
        total.started,
        total.finished,
        total.failed,
        total.waitP50Seconds,
        total.waitP95Seconds,
        total.cost?.amount ?? null,
        total.cost?.currency ?? null,
      ]),
    ])
  return (
    <section aria-labelledby="totals">
      <header className={styles.sectionHead}>
        <h2 id="totals">Totals of {formatDuration(range.toMs - range.fromMs)}</h2>
        <Button look="quiet" onClick={download}>
          CSV
        </Button>
      </header>
      <Table
        label="Totals"
        rows={totals}
        getKey={({ key }) => nameKey(key)}
        columns={[
          {
            title: by.charAt(0) + by.slice(1).toLowerCase(),
            cell: ({ key }) => <JobsLink by={by} value={key} range={range} pool={search.pool} />,
          },
          { title: 'GPU hours', isNumber: true, cell: ({ gpuHours }) => round(gpuHours) },
          { title: 'Core hours', isNumber: true, cell: ({ coreHours }) => round(coreHours) },
          { title: 'Ended', isNumber: true, cell: ({ finished }) => formatCount(finished) },
          { title: 'Failed', isNumber: true, isSecondary: true, cell: ({ failed }) => formatCount(failed) },
          { title: 'Wait p50', isNumber: true, isSecondary: true, cell: ({ waitP50Seconds }) => wait(waitP50Seconds) },
          { title: 'Wait p95', isNumber: true, isSecondary: true, cell: ({ waitP95Seconds }) => wait(waitP95Seconds) },
          { title: 'Cost', isNumber: true, cell: ({ cost }) => (cost ? formatMoney(cost) : '–') },
        ]}
      />
    </section>
  )
}

interface JobsLinkProps {
  by: UsageBy
  value: Total['key']
  range: UsageRange
  pool: string | undefined
}

/** A link to the jobs of a key; plain text for teams, because the job list has no filter for them. */
function JobsLink({ by, value, range, pool }: JobsLinkProps): ReactNode {
  const name = nameKey(value)
  if (value === null || by === 'TEAM') return name
  const search = { pool, since: new Date(range.fromMs).toISOString(), [by.toLowerCase()]: value }
  return (
    <Link to="/jobs" search={search} className={styles.link}>
      {name}
    </Link>
  )
}
