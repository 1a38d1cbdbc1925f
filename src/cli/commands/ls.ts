import type { Command } from 'commander'
import {
  JobCountBy,
  JobCountsDocument,
  type JobCountsQuery,
  type JobFilter,
  type JobOrder,
  JobsDocument,
  LiveJobFragmentDoc,
  LiveJobsDocument,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { readChoice } from '../reading/choices.ts'
import { addFilterFlags, pickFilterFlags, readFilter, readOrder, requireKnownNames } from '../reading/filter.ts'
import { readCount } from '../reading/numbers.ts'
import { readFirstNodes, readJobs } from '../reading/pages.ts'
import { addWatchOption, followJobs, makeTableView, watchRows } from '../showing/live.ts'
import { addOutputOption, createRowPrinter, type Output, type OutputOptions, printJobs } from '../showing/output.ts'
import { liveJobColumns } from '../showing/render.ts'

interface LsOptions extends OutputOptions {
  order?: JobOrder
  groupBy?: Grouping
  watch?: true
  limit: number
}

export function registerLsCommand(program: Command, cli: Cli): void {
  const ls = addOutputOption(program.command('ls'), (command) =>
    command.opts()['groupBy'] ? undefined : [LiveJobFragmentDoc],
  )
    .description('list jobs, newest first')
    .option(
      '--order <field>',
      'created, started, finished or priority; largest first, or smallest first with :asc',
      readOrder,
    )
    .option('-n, --limit <count>', 'maximum number of jobs', readCount, 20)
    .option('--group-by <property>', 'count jobs by state, user, team, …, or label:KEY', readGrouping)
  addFilterFlags(addWatchOption(ls), 'Only jobs:').action(
    async ({ order, groupBy, watch, limit, output }: LsOptions) => {
      const filter = await readFilter(cli, pickFilterFlags(ls))
      if (groupBy) return printCounts(cli, { filter, groupBy, limit }, output)
      if (watch) {
        // Checks first that the server is reachable, because the live list retries forever.
        await cli.connection().request(JobsDocument, { first: 1 }, { attempts: 2 })
        const source = followJobs(cli, { filter, orderBy: order, first: limit })
        return watchRows(cli, { output, source, view: makeTableView(cli, liveJobColumns, output) })
      }
      await printList(cli, { filter, orderBy: order ?? null, limit }, output)
    },
  )
}

interface Listing {
  filter: JobFilter
  orderBy: JobOrder | null
  limit: number
}

const printLiveJobs = createRowPrinter(liveJobColumns)

/** Prints jobs. For a table it reads fewer fields than for programs. */
async function printList(cli: Cli, { filter, orderBy, limit }: Listing, output: Output): Promise<void> {
  if (output.format === 'table' || output.format === 'ids') {
    const jobs = await readJobs(cli, limit, { filter, orderBy })
    if (jobs.length === 0) await requireKnownNames(cli, filter)
    return printJobs(cli, jobs, output)
  }
  const jobs = await readFirstNodes(
    limit,
    async (page) => (await cli.connection().request(LiveJobsDocument, { ...page, filter, orderBy })).jobs,
  )
  if (jobs.length === 0) await requireKnownNames(cli, filter)
  await printLiveJobs(cli, jobs, output)
}

interface Grouping {
  by: JobCountBy
  labelKey: string | null
}

const readProperty = readChoice(Object.values(JobCountBy))

function readGrouping(given: string): Grouping {
  const [, labelKey] = /^label:(.+)$/s.exec(given) ?? []
  return labelKey === undefined ? { by: readProperty(given), labelKey: null } : { by: 'LABEL', labelKey }
}

interface Count {
  key: string | null
  name: string
  count: number
  byState: JobCountsQuery['jobCounts']['rows'][number]['byState']
}

const printRows = createRowPrinter<Count>([
  { title: 'KEY', cell: ({ name }) => name, shrinks: true },
  { title: 'JOBS', cell: ({ count }) => String(count) },
  {
    title: 'STATES',
    cell: ({ byState }) => byState.map(({ state, count }) => `${count} ${state}`).join(', '),
    shrinks: true,
  },
])

async function printCounts(
  cli: Cli,
  { filter, groupBy: { by, labelKey }, limit: first }: Pick<Listing, 'filter' | 'limit'> & { groupBy: Grouping },
  output: Output,
): Promise<void> {
  const { jobCounts } = await cli.connection().request(JobCountsDocument, { by, labelKey, filter, first })
  if (jobCounts.rows.length === 0) await requireKnownNames(cli, filter)
  const rows = jobCounts.rows.map((row) => ({ ...row, name: (row.user ?? row.team)?.name ?? row.key ?? '-' }))
  if (!jobCounts.isExact) cli.terminal.say('berth: more jobs match than are counted; narrow the filters')
  await printRows(cli, rows, output)
}
