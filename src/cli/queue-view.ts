import type { QueueEntryFragment, QueueRowFragment } from '../client/generated/graphql.ts'
import { type Column, likelyStart, secondsText, stateStyles, table, timeText } from './render.ts'
import { styled, type Terminal } from './terminal.ts'

type IsSelected = (job: QueueEntryFragment) => boolean

export function queueView(terminal: Terminal, queue: QueueRowFragment, isSelected?: IsSelected): string {
  const { nodes, pageInfo } = queue.entries
  const rest = pageInfo.hasNextPage ? styled(terminal, 'dim', 'and more; see --limit\n') : ''
  return `${numbersText(terminal, queue)}${nodes.length > 0 ? `\n${table(terminal, nodes, columnsFor(nodes, isSelected))}${rest}` : ''}`
}

function numbersText(terminal: Terminal, queue: QueueRowFragment): string {
  const { pool, at, depth, running, blocked, avgWaitSeconds } = queue
  const { maxConcurrent } = pool.limits
  const parts = [
    `${running}${maxConcurrent === null ? '' : ` of ${maxConcurrent}`} running`,
    `${depth} waiting`,
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(avgWaitSeconds === null ? [] : [`average wait ${secondsText(avgWaitSeconds)}`]),
    ...(maxConcurrent === 0 ? ['paused'] : []),
  ]
  return `${styled(terminal, 'bold', pool.name)}  ${parts.join(', ')}  ${styled(terminal, 'dim', timeText(at) ?? '')}\n`
}

const orderOf = (jobs: readonly QueueEntryFragment[]): Column<QueueEntryFragment>[] =>
  jobs.some(({ fairShare }) => fairShare !== null)
    ? [
        { title: 'SHARE', cell: ({ fairShare }) => (fairShare ? String(+fairShare.share.toFixed(3)) : '-'), drop: 1 },
        { title: 'BID', cell: ({ fairShare }) => (fairShare ? String(fairShare.bid) : '-'), drop: 1 },
      ]
    : [{ title: 'PRIORITY', cell: ({ priority }) => (priority === null ? '-' : String(priority)), drop: 1 }]

const columnsFor = (
  jobs: readonly QueueEntryFragment[],
  isSelected?: IsSelected,
): readonly Column<QueueEntryFragment>[] => [
  ...(isSelected ? [{ title: '', cell: (job: QueueEntryFragment) => (isSelected(job) ? '>' : '') }] : []),
  { title: 'POS', cell: ({ queuePosition }) => (queuePosition === null ? '-' : String(queuePosition)) },
  { title: 'JOB', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name ?? '-', shrinks: true },
  { title: 'USER', cell: ({ user }) => user.name, drop: 2 },
  { title: 'STATE', cell: ({ state }) => state, style: ({ state }) => stateStyles[state] },
  ...orderOf(jobs),
  { title: 'START', cell: startText, drop: 3 },
  { title: 'REASON', cell: reasonText, shrinks: true },
]

/** When the job started or is expected to start, or the earliest time at which it may start. */
function startText({ currentRun, scheduling }: QueueEntryFragment): string {
  if (!scheduling) return timeText(currentRun.startedAt) ?? '-'
  const { estimatedStart } = scheduling
  if (!estimatedStart) return '-'
  return likelyStart(estimatedStart) ?? `from ${timeText(estimatedStart.earliest)}`
}

function reasonText({ scheduling, currentRun }: QueueEntryFragment): string {
  const [reason] = scheduling?.reasons ?? []
  if (reason) return `${reason.code}: ${reason.message}`
  const gpus = currentRun.gpuIds.length > 0 ? `, GPU ${currentRun.gpuIds.join(' ')}` : ''
  return currentRun.nodeNames.length > 0 ? `on ${currentRun.nodeNames.join(' ')}${gpus}` : '-'
}
