import type { Command } from 'commander'
import { type JobEventRowFragment, JobLogsDocument, type JobLogsQuery } from '../../client/generated/graphql.ts'
import { createHistory } from '../../client/jobs/events.ts'
import type { Cli } from '../cli.ts'
import { readUpTo } from '../numbers.ts'
import {
  detachOnInterrupt,
  findJob,
  followLog,
  gapText,
  type LogView,
  printEvent,
  reportWaiting,
  waitUntilFinal,
} from '../watch.ts'

interface LogsOptions {
  follow?: boolean
  tail?: number
  events?: boolean
}

const linesPerPage = 5_000

export function registerLogsCommand(program: Command, cli: Cli): void {
  program
    .command('logs')
    .argument('<job>')
    .description('print the output of a job')
    .option('-f, --follow', 'follow the output until the job ends; Ctrl-C detaches, the job continues')
    .option('--tail <lines>', `only the last lines, 1 to ${linesPerPage}`, readUpTo(linesPerPage))
    .option('--events', 'show the events of the job instead of its output; with -f both')
    .action(async (id: string, { follow, tail, events }: LogsOptions) => {
      await findJob(cli, id)
      const view: LogView = tail === undefined ? {} : { lastLines: tail }
      if (!follow) return events ? printEvents(cli, id) : printLog(cli, id, tail)
      detachOnInterrupt(cli, id)
      reportWaiting(cli, id)
      const onEvent = (event: JobEventRowFragment) => printEvent(cli, event)
      await Promise.all([followLog(cli, id, view), events && waitUntilFinal(cli, id, { from: 'FIRST', onEvent })])
    })
}

/** Prints the pages of the present log. The last page of a running job is empty. */
async function printLog(cli: Cli, id: string, lastLines: number | undefined): Promise<void> {
  const first = lastLines === undefined ? linesPerPage : undefined
  for (let after: string | undefined; ; ) {
    const variables = { id, after, first, lastLines }
    const { job }: JobLogsQuery = await cli.connection().request(JobLogsDocument, variables, { attempts: 3 })
    if (!job) return
    const { text, gaps, cursor, isFinal } = job.logs
    for (const gap of gaps) cli.terminal.say(gapText(gap))
    await cli.terminal.write(text)
    if (isFinal || (text === '' && gaps.length === 0) || lastLines !== undefined) return
    after = cursor
  }
}

async function printEvents(cli: Cli, id: string): Promise<void> {
  const { events } = await createHistory(cli.connection(), id).read({ attempts: 3 })
  for (const event of events) await printEvent(cli, event)
}
