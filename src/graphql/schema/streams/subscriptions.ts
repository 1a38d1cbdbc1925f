import { maySee } from '../../../domain/access.ts'
import { jobNotFound } from '../../../domain/errors.ts'
import type { FeedEvent } from '../../../feed/event.ts'
import type { JobStatusMessage } from '../../../feed/job-status.ts'
import type { JobUpdatesMessage } from '../../../feed/job-updates.ts'
import type { TailMessage } from '../../../logs/tail-message.ts'
import { batchLinesCost, batchLinesMax, batchTextCost } from '../../caller-limits.ts'
import { collectNamesBelow } from '../../operation.ts'
import type { RequestContext } from '../../rows/context.ts'
import { decodeCursor } from '../../rows/cursor.ts'
import { builder } from '../frame/builder.ts'
import { StreamResetReason } from '../frame/enums.ts'
import { exposeColumns, requireRow } from '../frame/fields.ts'
import { JobEventRef, JobRef, RunRef } from '../frame/refs.ts'
import { formatFeedCursor, formatSeqCursor, openSeqCursor } from '../jobs/event-cursor.ts'
import { JobFilterInput } from '../jobs/job-filter.ts'
import { checkLogStart, includedStreams, LogGapRef, LogLineRef, logCursor, type OfJob } from '../jobs/log.ts'

/** Every message has a cursor, including heartbeats, so a client can continue from its last message. */

interface Cursored {
  cursor: string
}
type Message<M, Kind> = Omit<Extract<M, { kind: Kind }>, 'cursor'> & Cursored

const cursorDescription = 'Pass this to `after` to continue from here.'

const JobTransitions = builder.objectRef<Message<JobStatusMessage, 'transitions'>>('JobTransitions').implement({
  description: 'Consecutive events of one job, at most 200; empty if only progress or stateInfo changed.',
  fields: (t) => ({
    ...exposeColumns(t, {
      matches: [
        'Boolean',
        'Whether the filter of the subscription admits the job as it is now; true without a filter.',
      ],
      cursor: ['Cursor', cursorDescription],
      isFinal: ['Boolean', 'Whether these events end in a final state.'],
    }),
    job: t.field({
      type: JobRef,
      description: 'The job as it is now.',
      resolve: ({ job }) => job,
    }),
    transitions: t.field({
      type: [JobEventRef],
      description: 'The events, in order.',
      resolve: ({ events }): FeedEvent[] => [...events],
    }),
  }),
})

const StreamReset = builder
  .objectRef<Cursored & { reason: 'RETENTION' | 'DELETED'; jobIds: readonly string[] }>('StreamReset')
  .implement({
    description:
      'Earlier messages are no longer valid. Without `jobIds`: reload all displayed data, then continue. With `jobIds`: only these jobs are affected.',
    fields: (t) => ({
      resetReason: t.expose('reason', { type: StreamResetReason, description: 'Why the messages are not valid.' }),
      jobIds: t.idList({
        description:
          'The deleted jobs, at most 200; remove them from your display. `jobUpdates` continues, `jobStatus` and `tail` complete. Empty: RETENTION.',
        resolve: ({ jobIds }) => [...jobIds],
      }),
      cursor: t.expose('cursor', { type: 'Cursor', description: cursorDescription }),
    }),
  })

export const StreamHeartbeat = builder.objectRef<Cursored & { at: Date }>('StreamHeartbeat').implement({
  description: 'A sign that the stream is alive, sent after about 15 seconds without other messages.',
  fields: (t) =>
    exposeColumns(t, {
      cursor: ['Cursor', cursorDescription],
      at: ['DateTime', 'When the message was sent, rounded down to a whole second.'],
    }),
})

const LogBatch = builder.objectRef<Message<TailMessage, 'batch'>>('LogBatch').implement({
  description: 'Output of one run. Offsets count the bytes of all streams, also of those not requested.',
  fields: (t) => ({
    ...exposeColumns(t, {
      startOffset: ['UInt53', 'Offset of the first byte.'],
      endOffset: ['UInt53', 'Offset after the last byte.'],
      cursor: ['Cursor', cursorDescription],
      isFinal: ['Boolean', 'Whether the output of the job ends here.'],
    }),
    runNumber: t.exposeInt('run', { description: 'Number of the run that wrote the lines, from 1.' }),
    text: t.string({
      description: 'The output as text.',
      complexity: batchTextCost,
      resolve: (batch, _args, { logTexts }) => logTexts?.addText(batch.utf8) ?? batch.text,
    }),
    lines: t.field({
      type: [LogLineRef],
      description: 'The output split into lines.',
      complexity: batchLinesCost,
      resolve: ({ lines }) => [...lines],
    }),
  }),
})

const RunChanged = builder.objectRef<Message<TailMessage, 'run'> & OfJob>('RunChanged').implement({
  description: 'The output that follows belongs to this run.',
  fields: (t) => ({
    run: t.field({
      type: RunRef,
      description: 'The run after the change.',
      resolve: ({ jobId, run }, _args, { domain }) =>
        requireRow(domain.db.prisma.run.findUnique({ where: { jobId_number: { jobId, number: run } } })),
    }),
    cursor: t.expose('cursor', { type: 'Cursor', description: cursorDescription }),
  }),
})

const messageTypes = {
  transitions: JobTransitions,
  reset: StreamReset,
  heartbeat: StreamHeartbeat,
  batch: LogBatch,
  gap: LogGapRef,
  run: RunChanged,
} as const

const resolveType = (message: object) =>
  'kind' in message ? messageTypes[message.kind as keyof typeof messageTypes] : undefined

const JobStatusMessageRef = builder.unionType('JobStatusMessage', {
  description: 'Message of `jobStatus`.',
  types: [JobTransitions, StreamReset, StreamHeartbeat],
  resolveType,
})

const JobUpdatesMessageRef = builder.unionType('JobUpdatesMessage', {
  description: 'Message of `jobUpdates`.',
  types: [JobTransitions, StreamReset, StreamHeartbeat],
  resolveType,
})

const TailMessageRef = builder.unionType('TailMessage', {
  description: 'Message of `tail`.',
  types: [LogBatch, LogGapRef, RunChanged, StreamReset, StreamHeartbeat],
  resolveType,
})

const after = { type: 'Cursor', description: 'Start after this cursor.' } as const

const batchBytes = 65_536
/** Returns the size of a batch in default batches, rounded up, from 1 to 16. */
const countBatches = (bytes: number) => Math.min(16, Math.max(1, Math.ceil(bytes / batchBytes)))

builder.subscriptionField('jobStatus', (t) =>
  t.field({
    type: JobStatusMessageRef,
    description:
      'Streams the events of one job after `after` (default: from the event of its current state) in order: first past, then live events. Completes after the final event.',
    args: { jobId: t.arg.id({ required: true, description: 'The job.' }), after: t.arg(after) },
    subscribe: (_root, { jobId, after: cursor }, { feed, viewer, lastEventId }) =>
      feed.jobStatus({ viewer, jobId, ...openSeqCursor(jobId, lastEventId ?? cursor) }),
    resolve: (message: JobStatusMessage, { jobId }, { load, reportCursor }) => {
      if (message.kind === 'transitions') load.job.prime(jobId, message.job)
      const cursor = formatSeqCursor({ jobId, seq: message.cursor, mark: message.mark })
      reportCursor?.(cursor)
      return { ...message, cursor }
    },
  }),
)

builder.subscriptionField('jobUpdates', (t) =>
  t.field({
    type: JobUpdatesMessageRef,
    description:
      'Streams the events of all jobs that you may see and that match the filter before or after the event, and the deletion of such jobs (`StreamReset` with `jobIds`). Start from `JobConnection.asOf`.',
    args: {
      filter: t.arg({ type: JobFilterInput, description: 'Filter; default: all jobs.' }),
      after: t.arg(after),
      progress: t.arg.boolean({
        defaultValue: false,
        description:
          'Also send changes of progress and stateInfo, as messages without events; at most one a second for each job.',
      }),
    },
    subscribe: (_root, { filter, after: cursor, progress }, { feed, viewer, lastEventId }) =>
      feed.jobUpdates({
        viewer,
        filter: filter ?? undefined,
        progress: progress ?? false,
        ...openPosition(lastEventId ?? cursor),
      }),
    resolve: (message: JobUpdatesMessage, _args, { load, reportCursor }) => {
      if (message.kind === 'transitions') load.job.prime(message.jobId, message.job)
      const { cursor: position, mark, toldMs } = message
      const cursor = formatFeedCursor({ position, mark, toldMs })
      reportCursor?.(cursor)
      return { ...message, cursor }
    },
  }),
)

builder.subscriptionField('tail', (t) =>
  t.field({
    type: TailMessageRef,
    description:
      'Streams the output of a job from `after`, from the last lines, or from the beginning, then live. Completes after all output.',
    args: {
      jobId: t.arg.id({ required: true, description: 'The job.' }),
      after: t.arg(after),
      lastLines: t.arg.int({
        description: 'Start with this number of last lines, 1 … 5,000; fewer if they are longer than 32 MiB.',
      }),
      streams: t.arg(includedStreams),
      maxBatchBytes: t.arg.int({
        defaultValue: batchBytes,
        description: 'Maximum bytes of text in one message; values are clamped to 4 KiB … 1 MiB.',
      }),
      run: t.arg.int({ description: 'Number of the run; default: all runs.' }),
    },
    complexity: ({ maxBatchBytes }) => ({ field: 1, multiplier: countBatches(maxBatchBytes ?? batchBytes) }),
    async subscribe(_root, { jobId, maxBatchBytes, ...start }, context, info) {
      await demandVisible(jobId, context)
      return context.logTail.follow({
        ...checkLogStart(jobId, context.lastEventId === undefined ? start : continueAfter(context.lastEventId, start)),
        maxBatchBytes: maxBatchBytes ?? batchBytes,
        ...(collectNamesBelow(info).has('lines') && { linesMax: batchLinesMax }),
      })
    },
    resolve: (message: TailMessage, { jobId }, { reportCursor }) => {
      const cursor = logCursor(jobId, message.cursor)
      reportCursor?.(cursor)
      return message.kind === 'gap' ? { ...message, jobId } : Object.assign(Object.create(message), { jobId, cursor })
    },
  }),
)

const continueAfter = <Start extends object>(after: string, start: Start) => ({ ...start, after, lastLines: null })

function openPosition(cursor: string | null | undefined) {
  const { p: after, m: mark, t: toldMs } = cursor == null ? {} : decodeCursor('pos', cursor)
  return { after, mark, toldMs }
}

async function demandVisible(jobId: string, { load, viewer }: RequestContext): Promise<void> {
  const job = await load.job.load(jobId)
  if (!job || !maySee(viewer, job)) throw jobNotFound(jobId)
}
