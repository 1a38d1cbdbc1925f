import { LineMatcher } from '../../../domain/line-matcher.ts'
import { BadPattern, patternCharactersMax } from '../../../domain/pattern.ts'
import { logStreams } from '../../../logs/lines.ts'
import {
  LineTooCostly,
  type LogMatch,
  type LogSearch,
  matchCharactersMax,
  matchRangesMax,
  searchLog,
} from '../../../logs/search.ts'
import { processorMs } from '../../../platform/slices.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { limits, logSearchCost } from '../../caller-limits.ts'
import { refusal } from '../../errors.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns } from '../frame/fields.ts'
import { JobRef } from '../frame/refs.ts'
import { checkLogStart, LogStream, logCursor, type OfJob, refuseMissingOutput } from './log.ts'

type ShownSearch = LogSearch & OfJob

const matchesDefault = 100

const LogMatchRef = builder.objectRef<LogMatch>('LogMatch').implement({
  description: 'A line of output that matches a search.',
  fields: (t) => ({
    ...exposeColumns(t, {
      line: ['UInt53', 'Number of the line in the run; pass it to logs(from: { line }).'],
      at: ['DateTime', 'When the line was stored.'],
      text: [
        'String',
        `The first ${matchCharactersMax.toLocaleString('en-US')} characters of the line, without its ending.`,
      ],
    }),
    runNumber: t.exposeInt('run', { description: 'Number of the run that wrote the line, from 1.' }),
    stream: t.expose('stream', { type: LogStream, description: 'Stream of the line.' }),
    starts: t.field({
      type: ['Int'],
      description: `Where the matches in \`text\` begin, in UTF-16 code units; each is the longest one there. Matches without characters, behind \`text\`, or that take much work to find have no place. At most ${matchRangesMax}.`,
      resolve: ({ ranges }) => ranges.map(({ start }) => start),
    }),
    ends: t.field({
      type: ['Int'],
      description: `Where the matches in \`text\` end, in the order of \`starts\`. At most ${matchRangesMax}.`,
      resolve: ({ ranges }) => ranges.map(({ end }) => end),
    }),
  }),
})

const LogSearchRef = builder.objectRef<ShownSearch>('LogSearch').implement({
  description: 'A part of a search through output: its matches, and where the search goes on.',
  fields: (t) => ({
    ...exposeColumns(t, {
      isComplete: ['Boolean', 'Whether all stored output in this direction was searched.'],
      scannedBytes: ['UInt53', 'Bytes of output that this request searched.'],
    }),
    matches: t.field({
      type: [LogMatchRef],
      description: 'Lines that match, in the direction of the search.',
      complexity: { multiplier: 1 },
      resolve: ({ matches }) => matches,
    }),
    cursor: t.field({
      type: 'Cursor',
      description: 'Where the search goes on; pass it to logSearch(after:), also when a running job has printed more.',
      resolve: ({ cursor, jobId }) => logCursor(jobId, cursor),
    }),
  }),
})

interface SearchArgs {
  query: string
  regex?: boolean | null | undefined
  ignoreCase?: boolean | null | undefined
}

function createMatcher({ query, regex, ignoreCase }: SearchArgs): LineMatcher {
  return new LineMatcher(query, { regex: regex ?? false, ignoreCase: ignoreCase ?? true })
}

function refusePattern(error: unknown): never {
  if (error instanceof BadPattern) throw refusal('BAD_REQUEST', `\`query\` cannot be searched for: ${error.message}`)
  if (error instanceof LineTooCostly)
    throw refusal(
      'BAD_REQUEST',
      '`query` cannot be searched for: a line of this output takes too long; use fewer repetitions',
    )
  throw error
}

builder.objectFields(JobRef, (t) => ({
  logSearch: t.field({
    type: LogSearchRef,
    nullable: true,
    description:
      'Searches lines of output. A request stops after 16 MiB or a quarter of a second of processor time: repeat it with `after` until `isComplete`. A line is searched up to 1 MiB; a pattern that needs more time for one line is refused.',
    complexity: ({ first }) => ({
      field: logSearchCost,
      multiplier: Math.min(Math.max(first ?? matchesDefault, 1), limits.logMatchesMax),
    }),
    args: {
      query: t.arg.string({
        required: true,
        description: `Text that a line contains, or a regular expression: 1 … ${patternCharactersMax} characters.`,
      }),
      regex: t.arg.boolean({
        defaultValue: false,
        description:
          '`query` is a regular expression of a part of a line: literals, `.`, `[classes]`, `\\d \\w \\s`, groups, `|`, `*`, `+`, `?`, `{m,n}`, `^`, `$`.',
      }),
      ignoreCase: t.arg.boolean({ defaultValue: true, description: '`a` matches `A`, and `A` matches `a`.' }),
      run: t.arg.int({ description: 'Number of the run; default: all runs.' }),
      streams: t.arg({
        type: [LogStream],
        ...capList(logStreams.length, 'Streams to search (default: STDOUT and STDERR)'),
      }),
      after: t.arg({
        type: 'Cursor',
        description: 'Search the lines that begin after this cursor, or before it if `backwards`; also one of `logs`.',
      }),
      backwards: t.arg.boolean({ defaultValue: false, description: 'Search from the end, newest lines first.' }),
      first: t.arg.int({
        defaultValue: matchesDefault,
        description: `Matches at most, 1 … ${limits.logMatchesMax}.`,
      }),
    },
    async resolve({ id }, { first, backwards, after, run, streams, ...pattern }, { domain }) {
      const matchesMax = first ?? matchesDefault
      if (matchesMax < 1 || matchesMax > limits.logMatchesMax)
        throw refusal('BAD_REQUEST', `\`first\` must be 1 … ${limits.logMatchesMax}, not ${matchesMax}`)
      const place = checkLogStart(id, { after, run, streams })
      try {
        const matcher = createMatcher(pattern)
        const options = { ...place, matcher, first: matchesMax, backwards: backwards ?? false, processorMs }
        const found = await searchLog(domain.db.sql, options).catch(refuseMissingOutput(id))
        return { ...found, jobId: id }
      } catch (error) {
        return refusePattern(error)
      }
    },
  }),
}))
