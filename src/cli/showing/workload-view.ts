import type { WorkloadEntryFragment, WorkloadRowFragment } from '../../client/generated/graphql.ts'
import { applyStyle, type Terminal } from '../frame/terminal.ts'
import { type Column, formatDuration, formatLikelyStart, formatTime, stateStyles, table } from './render.ts'

type IsSelected = (job: WorkloadEntryFragment) => boolean

export function formatWorkload(terminal: Terminal, workload: WorkloadRowFragment, isSelected?: IsSelected): string {
  const { nodes, pageInfo } = workload.entries
  const rest = pageInfo.hasNextPage ? applyStyle(terminal, 'dim', 'and more; see --limit\n') : ''
  return `${numbersText(terminal, workload)}${nodes.length > 0 ? `\n${table(terminal, nodes, columnsFor(nodes, isSelected))}${rest}` : ''}`
}

function numbersText(terminal: Terminal, workload: WorkloadRowFragment): string {
  const { pool, at, depth, running, blocked, avgWaitSeconds } = workload
  const { maxConcurrent } = pool.limits
  const parts = [
    `${running}${maxConcurrent === null ? '' : ` of ${maxConcurrent}`} running`,
    `${depth} waiting`,
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(avgWaitSeconds === null ? [] : [`average wait ${formatDuration(avgWaitSeconds)}`]),
    ...(maxConcurrent === 0 ? ['paused'] : []),
  ]
  return `${applyStyle(terminal, 'bold', pool.name)}  ${parts.join(', ')}  ${applyStyle(terminal, 'dim', formatTime(at) ?? '')}\n`
}

const orderOf = (jobs: readonly WorkloadEntryFragment[]): Column<WorkloadEntryFragment>[] =>
  jobs.some(({ fairShare }) => fairShare !== null)
    ? [
        { title: 'SHARE', cell: ({ fairShare }) => (fairShare ? String(+fairShare.share.toFixed(3)) : '-'), drop: 1 },
        { title: 'BID', cell: ({ fairShare }) => (fairShare ? String(fairShare.bid) : '-'), drop: 1 },
      ]
    : [{ title: 'PRIORITY', cell: ({ priority }) => (priority === null ? '-' : String(priority)), drop: 1 }]

const columnsFor = (
  jobs: readonly WorkloadEntryFragment[],
  isSelected?: IsSelected,
): readonly Column<WorkloadEntryFragment>[] => [
  ...(isSelected ? [{ title: '', cell: (job: WorkloadEntryFragment) => (isSelected(job) ? '>' : '') }] : []),
  { title: 'POS', cell: ({ position }) => (position === null ? '-' : String(position)) },
  { title: 'JOB', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name ?? '-', shrinks: true },
  { title: 'USER', cell: ({ user }) => user.name, drop: 2 },
  { title: 'STATE', cell: ({ state }) => state, style: ({ state }) => stateStyles[state] },
  ...orderOf(jobs),
  { title: 'START', cell: formatStart, drop: 3 },
  { title: 'REASON', cell: reasonText, shrinks: true },
]

/** Formats when the job started, is expected to start, or may start at the earliest. */
function formatStart({ currentRun, scheduling }: WorkloadEntryFragment): string {
  if (!scheduling) return formatTime(currentRun.startedAt) ?? '-'
  const { estimatedStart } = scheduling
  if (!estimatedStart) return '-'
  return (
    formatLikelyStart(estimatedStart) ??
    (estimatedStart.earliest ? `from ${formatTime(estimatedStart.earliest)}` : 'unknown')
  )
}

function reasonText({ scheduling, currentRun }: WorkloadEntryFragment): string {
  const [reason] = scheduling?.reasons ?? []
  if (reason) return `${reason.code}: ${reason.message}`
  const gpus = currentRun.gpuIds.length > 0 ? `, GPU ${currentRun.gpuIds.join(' ')}` : ''
  return currentRun.nodeNames.length > 0 ? `on ${currentRun.nodeNames.join(' ')}${gpus}` : '-'
}
