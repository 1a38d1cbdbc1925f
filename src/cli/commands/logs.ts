import { type Command, InvalidArgumentError } from 'commander'
import { requireField } from '../../client/connection/failure.ts'
import {
  type JobEventRowFragment,
  JobLogsDocument,
  type JobLogsQuery,
  type LabelFilter,
  LogSearchDocument,
  type LogSearchQuery,
  type LogStart,
  type LogStream,
} from '../../client/generated/graphql.ts'
import { createHistory } from '../../client/jobs/events.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, MissingJob, seeJobs, usageError } from '../frame/exit.ts'
import { applyStyle, sanitizeText } from '../frame/terminal.ts'
import { readChoices } from '../reading/choices.ts'
import { readLabel } from '../reading/filter.ts'
import { readCount, readUpTo } from '../reading/numbers.ts'
import { readJobs } from '../reading/pages.ts'
import { readPastTime } from '../reading/times.ts'
import { LinePrefix } from '../showing/line-prefix.ts'
import {
  detachOnInterrupt,
  findJob,
  followLog,
  formatGap,
  printEvent,
  reportWaiting,
  waitUntilFinal,
} from '../showing/watch.ts'

interface LogsOptions {
  follow?: boolean
  tail?: number
  events?: boolean
  tag?: string[]
  label?: LabelFilter[]
  grep?: string
  ignoreCase?: true
  errors?: true
  line?: LineRange
  since?: string
  run?: number
  stream?: LogStream[]
}

interface LineRange {
  from: number
  count: number
}

const linesPerPage = 5_000
const taggedMax = 20

export function registerLogsCommand(program: Command, cli: Cli): void {
  program
    .command('logs')
    .argument('[job...]')
    .summary('print the output of jobs')
    .description('print the output of jobs; with several jobs each line begins with the name of its job')
    .option('-f, --follow', 'follow the output until the jobs end; Ctrl-C detaches, the jobs continue')
    .option('--tail <lines>', `only the last lines, 1 to ${linesPerPage}`, readUpTo(linesPerPage))
    .option('--tag <tag...>', `the newest ${taggedMax} jobs with all of these tags`)
    .option('-l, --label <key[=value]>', `the newest ${taggedMax} jobs with this label; may be repeated`, readLabel)
    .option(
      '--grep <pattern>',
      'only lines that match this regular expression, with their numbers; exits with 1 without one',
    )
    .option('-i, --ignore-case', 'with --grep: ignore case')
    .option('--errors', 'only lines that look like errors, with their numbers')
    .option('--line <from-to>', 'only these lines of the run, such as 120-140', readLines)
    .option('--since <time>', 'only output since this time: 10m, 2h or 2030-01-31T12:00:00Z', readPastTime)
    .option('--run <number>', 'only the output of this run, from 1', readCount)
    .option('--stream <stream...>', 'STDOUT, STDERR, SYSTEM (default: STDOUT and STDERR)', readStream)
    .option('--events', 'show the events of the jobs instead of their output; with -f both')
    .action(async (given: string[], options: LogsOptions) => {
      demandOneStart(options)
      const ids = await findJobs(cli, given, options)
      if (options.follow) return followAll(cli, ids, options)
      let found = 0
      for (const { id, prefix } of ids) found += await printOne(cli, id, { ...options, prefix })
      if (found === 0 && (options.grep !== undefined || options.errors)) cli.exitWith(exitCodes.unexpected)
    })
}

interface Named {
  id: string
  prefix: string
}

async function findJobs(cli: Cli, given: readonly string[], { tag = [], label = [] }: LogsOptions): Promise<Named[]> {
  const labels = [...label, ...tag.map((key) => ({ key, value: '' }))]
  if (given.length === 0 && labels.length === 0) throw new MissingJob(`pass its id, --label or --tag; ${seeJobs}`)
  if (given.length > 0 && labels.length > 0) throw usageError('pass jobs, or --label and --tag, not both')
  const found =
    labels.length > 0
      ? await readJobs(cli, taggedMax, { filter: { labels } })
      : await Promise.all(given.map((id) => findJob(cli, id)))
  return found.map(({ id, name }) => ({ id, prefix: found.length > 1 ? `${sanitizeText(name ?? id)} | ` : '' }))
}

async function followAll(
  cli: Cli,
  jobs: readonly Named[],
  { tail, run, stream, events, ...rest }: LogsOptions,
): Promise<void> {
  if (rest.grep !== undefined || rest.errors || rest.line || rest.since)
    throw usageError('--grep, --errors, --line and --since do not follow', 'leave out -f')
  detachOnInterrupt(cli, jobs.map(({ id }) => id).join(' '))
  const view = { ...(tail && { lastLines: tail }), ...(run && { run }), ...(stream && { streams: stream }) }
  const onEvent = (event: JobEventRowFragment) => printEvent(cli, event)
  await Promise.all(
    jobs.flatMap(({ id, prefix }) => {
      reportWaiting(cli, id)
      return [followLog(cli, id, { ...view, prefix }), events && waitUntilFinal(cli, id, { from: 'FIRST', onEvent })]
    }),
  )
}

/** Prints the log of a job. Returns the number of lines that a search has found. */
async function printOne(cli: Cli, id: string, options: LogsOptions & { prefix: string }): Promise<number> {
  const { grep, errors, events, ignoreCase, run, stream: streams, prefix } = options
  if (grep !== undefined) {
    const search = { query: grep, regex: true, ignoreCase: Boolean(ignoreCase) }
    return printMatches(cli, id, { ...search, run, streams, prefix })
  }
  if (errors) return printMatches(cli, id, { query: errorPattern, regex: true, ignoreCase: true, run, streams, prefix })
  await (events ? printEvents(cli, id) : printLog(cli, id, options))
  return 0
}

interface SearchOptions {
  query: string
  regex: boolean
  ignoreCase: boolean
  run?: number | undefined
  streams?: LogStream[] | undefined
  /** Text before each line: the job, if there are several. */
  prefix: string
}

/** Matches lines that report a failure, by words that common programs use. */
const errorPattern = 'error|exception|traceback|fatal|panic|segmentation|out of memory|killed|failed'

/** Prints the matching lines as `number:text`. Returns the number of matches. */
async function printMatches(cli: Cli, id: string, { prefix, ...search }: SearchOptions): Promise<number> {
  let count = 0
  for (let after: string | undefined; ; ) {
    const { job }: LogSearchQuery = await cli
      .connection()
      .request(LogSearchDocument, { id, after, ...search }, { attempts: 3 })
    if (!job) return count
    const { matches, cursor, isComplete } = requireField(job.logSearch)
    for (const { line, text } of matches)
      await cli.terminal.write(`${prefix}${applyStyle(cli.terminal, 'dim', `${line}:`)}${sanitizeText(text)}\n`)
    count += matches.length
    if (isComplete) return count
    after = cursor
  }
}

function demandOneStart({ tail, line, since }: LogsOptions): void {
  if ([tail, line, since].filter((each) => each !== undefined).length > 1)
    throw usageError('--tail, --line and --since exclude each other', 'pass one of them')
}

function readStart({ tail, line, since }: LogsOptions): LogStart | null {
  if (tail !== undefined) return { lastLines: tail }
  if (line) return { line: line.from }
  return since === undefined ? null : { time: since }
}

/** Prints the log so far, page by page. The last page of a running job is empty. */
async function printLog(cli: Cli, id: string, options: LogsOptions & { prefix: string }): Promise<void> {
  const { tail: lastLines, line, run, stream: streams, prefix } = options
  const lines = new LinePrefix(cli, prefix)
  const fixed = { id, run: line ? (run ?? (await findJob(cli, id)).currentRun.number) : run, streams }
  const first = line?.count ?? lastLines ?? linesPerPage
  for (let from = readStart(options); ; ) {
    const variables = { ...fixed, first, from }
    const { job }: JobLogsQuery = await cli.connection().request(JobLogsDocument, variables, { attempts: 3 })
    if (!job) return
    const { text, gaps, cursor, isFinal } = requireField(job.logs)
    for (const gap of gaps) cli.terminal.say(formatGap(gap))
    await lines.write(text)
    if (isFinal || (text === '' && gaps.length === 0) || lastLines !== undefined || line) return lines.end()
    from = { cursor }
  }
}

async function printEvents(cli: Cli, id: string): Promise<void> {
  const { events } = await createHistory(cli.connection(), id).read({ attempts: 3 })
  for (const event of events) await printEvent(cli, event)
}

const readStream = readChoices<LogStream>(['STDOUT', 'STDERR', 'SYSTEM'])

function readLines(given: string): LineRange {
  const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(given) ?? []
  const count = Number(to) - Number(from) + 1
  if (from === undefined || Number(from) < 1 || !(count >= 1 && count <= linesPerPage))
    throw new InvalidArgumentError(`Expected 120 or 120-140, at most ${linesPerPage} lines.`)
  return { from: Number(from), count }
}
