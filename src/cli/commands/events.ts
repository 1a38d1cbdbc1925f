import type { Command } from 'commander'
import { type JobFilter, JobUpdatesDocument } from '../../client/generated/graphql.ts'
import { createHistory } from '../../client/jobs/events.ts'
import type { Cli } from '../frame/cli.ts'
import { MissingJob, seeJobs } from '../frame/exit.ts'
import { addFilterFlags, pickFilterFlags, readFilter } from '../reading/filter.ts'
import { addOutputOption, isTable, type Output, type OutputOptions, serialize } from '../showing/output.ts'
import { formatEvent } from '../showing/render.ts'
import { findJob } from '../showing/watch.ts'

interface EventsOptions extends OutputOptions {
  follow?: true
}

export function registerEventsCommand(program: Command, cli: Cli): void {
  const events = addOutputOption(program.command('events').argument('[job...]'))
    .summary('print the events of jobs')
    .description('print the events of jobs; with -f the new events of these jobs, or of all that match')
    .option('-f, --follow', 'print new events until Ctrl-C')
  addFilterFlags(events, 'With -f only jobs:').action(async (ids: string[], { follow, output }: EventsOptions) => {
    if (follow) {
      const filter = await readFilter(cli, pickFilterFlags(events))
      return followEvents(cli, ids.length > 0 ? { ...filter, ids } : filter, output)
    }
    if (ids.length === 0) throw new MissingJob(`${seeJobs}; -f follows all jobs`)
    for (const id of ids) await printHistory(cli, id, output)
  })
}

type Line = Parameters<typeof formatEvent>[0] & { job: { id: string; name: string | null } }

async function printLine({ terminal }: Cli, line: Line, output: Output): Promise<void> {
  if (isTable(output)) return terminal.write(`${line.job.id} ${formatEvent(line)}\n`)
  const text = await serialize(line, { ...output, format: oneLine(output) })
  await terminal.write(output.format === 'yaml' ? `---\n${text}` : text)
}

const oneLine = ({ format }: Output) => (format === 'json' ? 'jsonl' : format)

async function printHistory(cli: Cli, id: string, output: Output): Promise<void> {
  const { name } = await findJob(cli, id)
  const { events } = await createHistory(cli.connection(), id).read({ attempts: 3 })
  for (const event of events) await printLine(cli, { ...event, job: { id, name } }, output)
}

async function followEvents(cli: Cli, filter: JobFilter, output: Output): Promise<void> {
  cli.leaveOnInterrupt('')
  const seen = new Set<string>()
  for await (const { jobUpdates } of cli.connection().subscribe(JobUpdatesDocument, { filter })) {
    if (jobUpdates.__typename !== 'JobTransitions') continue
    const { id, name } = jobUpdates.job
    for (const event of jobUpdates.transitions) {
      if (seen.has(event.id)) continue
      seen.add(event.id)
      await printLine(cli, { ...event, job: { id, name } }, output)
    }
  }
}
