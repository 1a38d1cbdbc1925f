import { jobNotFound } from '../../../domain/errors.ts'
import type { LogLine } from '../../../logs/batch.ts'
import { readLogGaps } from '../../../logs/gaps.ts'
import { logStreams } from '../../../logs/lines.ts'
import { LogElsewhere, type LogGap, LogGone, type LogPage, pageLinesMax, readLog } from '../../../logs/read.ts'
import type { LogCursor } from '../../../logs/stored.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { logGapsCost, logLinesCost, logPageCost, logTextCost } from '../../caller-limits.ts'
import { refusal } from '../../errors.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../../rows/cursor.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { LogGapReason } from '../frame/enums.ts'
import { exposeColumns } from '../frame/fields.ts'
import { JobRef } from '../frame/refs.ts'

export const LogStream = builder.enumType('LogStream', {
  description: 'Stream of output.',
  values: describeValues({
    STDOUT: 'Standard output of the job.',
    STDERR: 'Error output of the job.',
    SYSTEM: 'Messages of Berth about the run.',
  } satisfies Record<(typeof logStreams)[number], string>),
})

/** The options of an argument or input field. */
export const includedStreams = {
  type: [LogStream] as [typeof LogStream],
  ...capList(logStreams.length, 'Streams to include (default: STDOUT and STDERR)'),
}

export const LogLineRef = builder.objectRef<LogLine>('LogLine').implement({
  description: 'A line of output, or a part of a long line.',
  fields: (t) => ({
    ...exposeColumns(t, {
      number: ['UInt53', 'Line number in the run, from 1; parts of a long line share its number.'],
      at: ['DateTime', 'When the line was stored.'],
      text: ['String', 'Text without the line ending.'],
      truncated: ['Boolean', 'Whether the line continues in the next part.'],
    }),
    stream: t.expose('stream', {
      type: LogStream,
      description: 'Standard output, standard error, or a message of Berth.',
    }),
    runNumber: t.exposeInt('run', { description: 'Number of the run that wrote the line, from 1.' }),
  }),
})

export interface OfJob {
  jobId: string
}

export const LogGapRef = builder.objectRef<LogGap & OfJob>('LogGap').implement({
  description: 'Output that is not available.',
  fields: (t) => ({
    ...exposeColumns(t, {
      startOffset: ['UInt53', 'Offset of the first missing byte.'],
      endOffset: ['UInt53', 'Offset after the last missing byte.'],
      line: ['UInt53?', 'Number of the first line behind the gap; null: no output is stored behind it.'],
    }),
    runNumber: t.exposeInt('run', { description: 'Number of the run whose output is missing, from 1.' }),
    gapReason: t.expose('reason', { type: LogGapReason, description: 'Why the output is missing.' }),
    cursor: t.field({
      type: 'Cursor',
      description: 'Position after the gap.',
      resolve: (gap) => logCursor(gap.jobId, gap.cursor),
    }),
  }),
})

const LogPageRef = builder.objectRef<LogPage & OfJob>('LogPage').implement({
  description:
    'A page of output: the requested number of lines, at most 1 MiB of text as JSON. A page without text and gaps means that no output follows now.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The output as text.', complexity: logTextCost }),
    lines: t.expose('lines', {
      type: [LogLineRef],
      complexity: logLinesCost,
      description: 'The output split into lines.',
    }),
    gaps: t.field({
      type: [LogGapRef],
      description: 'Missing output within the page.',
      complexity: { multiplier: 1 },
      resolve: ({ gaps, jobId }) => gaps.map((gap) => ({ ...gap, jobId })),
    }),
    firstLine: t.field({
      type: 'UInt53',
      nullable: true,
      description: 'Number of the first line; null: the page has no line.',
      resolve: ({ lines: [first] }) => first?.number ?? null,
    }),
    startCursor: t.field({
      type: 'Cursor',
      description: 'Start of the page; pass it to logs(from: { before }).',
      resolve: ({ start, jobId }) => logCursor(jobId, start),
    }),
    cursor: t.field({
      type: 'Cursor',
      description: 'End of the page; pass it to logs(from: { cursor }) or tail(after:).',
      resolve: ({ cursor, jobId }) => logCursor(jobId, cursor),
    }),
    isFinal: t.exposeBoolean('isFinal', { description: 'Whether this is the end of all output of the job.' }),
  }),
})

export const logCursor = (jobId: string, { run, offset, mark }: LogCursor) =>
  encodeCursor('log', { j: jobId, r: run, o: offset, m: mark })

interface StartArgs {
  after?: string | null | undefined
  lastLines?: number | null | undefined
  run?: number | null | undefined
  streams?: readonly (typeof logStreams)[number][] | null | undefined
}

/** Checks the arguments that determine where reading a log starts. */
export function checkLogStart(jobId: string, { after, lastLines, run, streams }: StartArgs) {
  if (after != null && lastLines != null) throw refusal('BAD_REQUEST', 'Give `after` or `lastLines`, not both')
  if (lastLines != null) demandLines('lastLines', lastLines)
  if (run != null && run < 1) throw refusal('BAD_REQUEST', '`run` must be 1 or more')
  return {
    jobId,
    after: after == null ? undefined : openCursor(jobId, after),
    lastLines: lastLines ?? undefined,
    run: run ?? undefined,
    streams: streams ?? (['STDOUT', 'STDERR'] as const),
  }
}

const LogStart = builder.inputType('LogStart', {
  description: 'Where a page of output starts; set exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    cursor: t.field({ type: 'Cursor', description: 'Start after this cursor.' }),
    before: t.field({
      type: 'Cursor',
      description: 'End before this cursor. A page without text and gaps: nothing is before it.',
    }),
    line: t.field({
      type: 'UInt53',
      description: 'Start with this line of `run`, from 1; the page has no line if the run has fewer.',
    }),
    time: t.field({
      type: 'DateTime',
      description: 'Start with the first line that was stored at or after this moment.',
    }),
    lastLines: t.int({
      description: 'Start with this number of last lines, 1 … 5,000; fewer if they are longer than 32 MiB.',
    }),
  }),
})

interface PlaceArgs extends Pick<StartArgs, 'run' | 'streams'> {
  from?: typeof LogStart.$inferInput | null | undefined
}

function checkPlace(jobId: string, { from, run, streams }: PlaceArgs) {
  const { cursor, before, line, time, lastLines } = from ?? {}
  if (line != null && run == null) throw refusal('BAD_REQUEST', '`from.line` needs `run`: every run counts its lines')
  if (line === 0) throw refusal('BAD_REQUEST', '`from.line` must be 1 or more')
  return {
    ...checkLogStart(jobId, { after: cursor, lastLines, run, streams }),
    fromLine: line ?? undefined,
    at: time ?? undefined,
    before: before == null ? undefined : openCursor(jobId, before),
  }
}

function openCursor(jobId: string, cursor: string): LogCursor {
  const { j, r, o, m } = decodeCursor('log', cursor)
  if (j !== jobId) throw invalidCursor()
  return { run: r, offset: o, mark: m }
}

export const refuseMissingOutput = (jobId: string) => (error: unknown) => {
  if (error instanceof LogElsewhere)
    throw refusal(
      'INVALID_CURSOR',
      'Invalid cursor: its output is not in this database; read the output from the beginning',
    )
  throw error instanceof LogGone ? jobNotFound(jobId) : error
}

function demandLines(name: string, lines: number) {
  if (lines < 1 || lines > pageLinesMax)
    throw refusal('BAD_REQUEST', `\`${name}\` must be 1 … ${pageLinesMax}, not ${lines}`)
}

builder.objectFields(JobRef, (t) => ({
  logs: t.field({
    type: LogPageRef,
    nullable: true,
    description: 'Output of all runs, from the beginning or from `from`.',
    complexity: logPageCost,
    args: {
      from: t.arg({ type: LogStart, description: 'Where the page starts; default: at the beginning.' }),
      first: t.arg.int({ defaultValue: 500, description: 'Lines at most, 1 … 5,000.' }),
      run: t.arg.int({ description: 'Number of the run; default: all runs.' }),
      streams: t.arg(includedStreams),
    },
    async resolve({ id }, { first, ...place }, { domain }) {
      const linesMax = first ?? 500
      demandLines('first', linesMax)
      const page = await readLog(domain.db.sql, { ...checkPlace(id, place), linesMax }).catch(refuseMissingOutput(id))
      return { ...page, jobId: id }
    },
  }),
  logGaps: t.field({
    type: [LogGapRef],
    complexity: logGapsCost,
    description:
      'All missing output, in order. Without gaps, all bytes from 0 to `logBytes` of a run are stored. At most 1,000.',
    args: { run: t.arg.int({ description: 'Number of the run; default: all runs.' }) },
    resolve: async ({ id }, { run }, { domain }) =>
      (await readLogGaps(domain.db.sql, id, run ?? undefined)).map((gap) => ({ ...gap, jobId: id })),
  }),
  logCursor: t.field({
    type: 'Cursor',
    description: 'Cursor for tail(after:) that continues at the end of the output in this snapshot.',
    resolve: async ({ id }, _args, { load }) => logCursor(id, await load.logEnd.load(id)),
  }),
}))
