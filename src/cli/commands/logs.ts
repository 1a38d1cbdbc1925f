import { type Command, InvalidArgumentError } from 'commander'
import { type JobEventRowFragment, JobEventsDocument, JobLogsDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { detachOnInterrupt, findJob, followLog, gapText, type LogView, printEvent, untilFinal } from '../watch.ts'

interface LogsOptions {
  follow?: boolean
  tail?: number
  events?: boolean
}

const linesPerPage = 5_000
const eventsPerPage = 100

export function addLogs(program: Command, cli: Cli): void {
  program
    .command('logs')
    .argument('<job>')
    .description('print the output of a job')
    .option('-f, --follow', 'follow the output until the job ends; Ctrl-C detaches, the job continues')
    .option('--tail <lines>', `only the last lines, 1 to ${linesPerPage}`, readLines)
    .option('--events', 'show the events of the job instead of its output; with -f both')
    .action(async (id: string, { follow, tail, events }: LogsOptions) => {
      await findJob(cli, id)
      const view: LogView = tail === undefined ? {} : { lastLines: tail }
      if (follow) return followUntilLeft(cli, id, { ...view, events: events ?? false })
      return events ? void (await printEvents(cli, id)) : printLog(cli, id, view)
    })
}

async function followUntilLeft(cli: Cli, id: string, { events, ...view }: LogView & { events: boolean }) {
  detachOnInterrupt(cli, id)
  await Promise.all([followLog(cli, id, view), ...(events ? [followEvents(cli, id)] : [])])
}

/** Prints past events, then live ones. Events that come in both are known by their numbers. */
async function followEvents(cli: Cli, id: string): Promise<void> {
  const { cursor, seq } = await printEvents(cli, id)
  const onEvent = async (event: JobEventRowFragment) => (event.seq > seq ? printEvent(cli, event) : undefined)
  await untilFinal(cli, id, { ...(cursor === undefined ? {} : { after: cursor }), onEvent })
}

/** Prints the pages of the present log. The last page of a running job is empty. */
async function printLog(cli: Cli, id: string, { lastLines }: LogView): Promise<void> {
  let begin: { after?: string; lastLines?: number } = lastLines === undefined ? {} : { lastLines }
  for (;;) {
    const variables = { id, ...begin, ...(begin.lastLines === undefined ? { first: linesPerPage } : {}) }
    const { job } = await cli.connection().request(JobLogsDocument, variables, { attempts: 3 })
    if (!job) return
    const { text, gaps, cursor, isFinal } = job.logs
    for (const { reason, ...gap } of gaps) cli.terminal.say(gapText({ ...gap, gapReason: reason }))
    await cli.terminal.write(text)
    if (isFinal || (text === '' && gaps.length === 0) || lastLines !== undefined) return
    begin = { after: cursor }
  }
}

/** Returns the cursor from before the first page, and the number of the last printed event. */
async function printEvents(cli: Cli, id: string): Promise<{ cursor: string | undefined; seq: number }> {
  let after: string | null = null
  let cursor: string | undefined
  let seq = 0
  do {
    const job: Awaited<ReturnType<typeof readEvents>> = await readEvents(cli, id, after)
    cursor ??= job?.eventCursor
    for (const event of job?.events.nodes ?? []) {
      await printEvent(cli, event)
      seq = event.seq
    }
    after = job?.events.pageInfo.hasNextPage ? job.events.pageInfo.endCursor : null
  } while (after !== null)
  return { cursor, seq }
}

async function readEvents(cli: Cli, id: string, after: string | null) {
  const variables = { id, first: eventsPerPage, after }
  const { job } = await cli.connection().request(JobEventsDocument, variables, { attempts: 3 })
  return job
}

function readLines(given: string): number {
  const lines = Number(given)
  if (!Number.isInteger(lines) || lines < 1 || lines > linesPerPage)
    throw new InvalidArgumentError(`It must be an integer from 1 to ${linesPerPage}.`)
  return lines
}
