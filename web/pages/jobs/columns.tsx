import type { ReactNode } from 'react'
import { StartEstimate, TimeLeft } from '../../features/jobs/rows/estimates.tsx'
import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { abridgePlace, describePlace, describeRequest } from '../../features/jobs/rows/place.ts'
import { formatMoney, formatPercent } from '../../parts/format.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { describeEnd } from '../../parts/states.ts'
import { Duration, Time } from '../../parts/time.tsx'

export interface JobColumn {
  key: string
  title: string
  /** The width as a CSS grid track. Its first number is the minimum width in pixels. */
  track: string
  /** On a narrow page, columns with the highest rank are hidden first; 0: never hidden. */
  rank: number
  isNumber?: boolean
  /** true: shown only if the user chose it. */
  isOptional?: boolean
  cell: (job: JobRow) => ReactNode
  /** Returns the tooltip. */
  hint?: (job: JobRow) => string
}

/** All columns in their order. The name has its own cell, with the link. */
export const columns: readonly JobColumn[] = [
  {
    key: 'state',
    title: 'State',
    track: 'minmax(136px, 150px)',
    rank: 0,
    cell: (job) => <StateChip state={job.state} fraction={job.progress?.fraction} detail={describeProgress(job)} />,
  },
  {
    key: 'name',
    title: 'Name',
    track: 'minmax(200px, 1fr)',
    rank: 0,
    cell: () => null,
  },
  {
    key: 'who',
    title: 'Who',
    track: 'minmax(56px, 80px)',
    rank: 5,
    cell: (job) => job.user.name,
  },
  {
    key: 'where',
    title: 'Where, or why it waits',
    track: 'minmax(140px, 280px)',
    rank: 2,
    cell: abridgePlace,
    hint: describePlace,
  },
  {
    key: 'asked',
    title: 'Asked',
    track: 'minmax(112px, 140px)',
    rank: 4,
    cell: describeRequest,
    hint: describeRequest,
  },
  {
    key: 'pool',
    title: 'Pool',
    track: 'minmax(64px, 110px)',
    rank: 9,
    isOptional: true,
    cell: (job) => job.pool.name,
  },
  {
    key: 'project',
    title: 'Project',
    track: 'minmax(64px, 120px)',
    rank: 10,
    isOptional: true,
    cell: (job) => job.project,
  },
  {
    key: 'labels',
    title: 'Labels',
    track: 'minmax(110px, 240px)',
    rank: 11,
    isOptional: true,
    cell: describeLabels,
    hint: describeLabels,
  },
  {
    key: 'priority',
    title: 'Priority',
    track: '56px',
    rank: 12,
    isNumber: true,
    isOptional: true,
    cell: (job) => job.priority,
  },
  {
    key: 'submitted',
    title: 'Submitted',
    track: '84px',
    rank: 7,
    isNumber: true,
    cell: (job) => <Time at={job.createdAt} />,
  },
  {
    key: 'waited',
    title: 'Waited',
    track: '84px',
    rank: 6,
    isNumber: true,
    cell: (job) => <Waited job={job} />,
  },
  {
    key: 'ran',
    title: 'Ran',
    track: '88px',
    rank: 1,
    isNumber: true,
    cell: (job) => job.currentRun.startedAt && <Duration from={job.currentRun.startedAt} to={job.finishedAt} />,
  },
  {
    key: 'ends',
    title: 'Ends or starts',
    track: '104px',
    rank: 3,
    isNumber: true,
    cell: (job) => <EndsOrStarts job={job} />,
  },
  {
    key: 'cost',
    title: 'Cost',
    track: '80px',
    rank: 8,
    isNumber: true,
    cell: (job) => job.cost && formatMoney(job.cost),
  },
]

/** Keys of the columns that are shown by default. */
export const defaultColumns: readonly string[] = columns.filter(({ isOptional }) => !isOptional).map(({ key }) => key)

function describeProgress(job: JobRow): string | null {
  const fraction = job.progress?.fraction ?? null
  if (job.state === 'RUNNING' && fraction !== null) return formatPercent(fraction)
  return describeEnd(job)
}

function describeLabels({ labels }: JobRow): string {
  return labels.map(({ key, value }) => (value === '' ? key : `${key}=${value}`)).join(' ')
}

function Waited({ job: { state, createdAt, startedAt } }: { job: JobRow }) {
  if (startedAt !== null) return <Duration from={createdAt} to={startedAt} />
  return state === 'QUEUED' || state === 'BLOCKED' ? <Duration from={createdAt} /> : null
}

function EndsOrStarts({ job }: { job: JobRow }) {
  if (job.finishedAt !== null) return <Time at={job.finishedAt} />
  return job.stateCategory === 'WAITING' ? <StartEstimate job={job} /> : <TimeLeft job={job} />
}
