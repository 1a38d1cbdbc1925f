import type { Command } from 'commander'
import { requireField } from '../../client/connection/failure.ts'
import { UsageBy, UsageDocument, type UsageQuery } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { readChoice } from '../reading/choices.ts'
import { formatDecimalBytes } from '../reading/here.ts'
import { nowMs, readPastTime } from '../reading/times.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'
import { type Column, formatDuration, formatMoney } from '../showing/render.ts'

interface UsageOptions extends OutputOptions {
  by: UsageBy
  since?: string
  until?: string
  pool?: string
}

interface Use extends Omit<NonNullable<UsageQuery['usage']>[number], 'at'> {
  cpuHours: number
  gpuHours: number
  memoryGibHours: number
}

export function registerUsageCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('usage'))
    .summary('show what was used, by whom')
    .description(
      'show the cores, GPUs and memory that jobs held over time, and with --by user the bytes of stored files',
    )
    .option(
      '--by <key>',
      `${Object.values(UsageBy).join(', ').toLowerCase()}`,
      readChoice(Object.values(UsageBy)),
      'ACCOUNT',
    )
    .option(
      '--since <time>',
      'start of the period: 24h ago, 7d ago (default), or a date such as 2030-01-31',
      readPastTime,
    )
    .option('--until <time>', 'end (default: now)', readPastTime)
    .option('--pool <name>', 'pool (default: all pools)')
    .action(async ({ output, by, since, until, pool }: UsageOptions) => {
      const from = since ?? readPastTime('7d')
      const seconds = Math.ceil(((until ? Date.parse(until) : nowMs()) - Date.parse(from)) / 1_000)
      if (seconds < 60) throw usageError('the time is shorter than a minute', 'pass --since 24h')
      const variables = { from, to: until ?? null, by, pool: pool ?? null, bucketSeconds: seconds }
      const { usage } = await cli.connection().request(UsageDocument, variables)
      const rows = requireField(usage).map(({ at: _, ...point }) => ({
        ...point,
        cpuHours: point.cpuSeconds / 3_600,
        gpuHours: point.gpuSeconds / 3_600,
        memoryGibHours: point.memoryByteSeconds / 2 ** 30 / 3_600,
      }))
      await (by === UsageBy.User ? printUsers : print)(cli, rows, output)
    })
}

const columns: Column<Use>[] = [
  { title: 'KEY', cell: ({ key, user, team }) => (user ?? team)?.name ?? key ?? '-', shrinks: true },
  { title: 'CPU HOURS', cell: ({ cpuHours }) => rounded(cpuHours) },
  { title: 'GPU HOURS', cell: ({ gpuHours }) => rounded(gpuHours) },
  { title: 'GIB HOURS', cell: ({ memoryGibHours }) => rounded(memoryGibHours), drop: 1 },
  { title: 'STARTED', cell: ({ started }) => String(started), drop: 3 },
  { title: 'FINISHED', cell: ({ finished }) => String(finished), drop: 4 },
  { title: 'FAILED', cell: ({ failed }) => String(failed), drop: 5 },
  {
    title: 'WAITED',
    cell: ({ waitP50Seconds }) => (waitP50Seconds === null ? '-' : formatDuration(waitP50Seconds)),
    drop: 2,
  },
  { title: 'COST', cell: ({ cost }) => (cost ? formatMoney(cost) : '-') },
]

const print = createRowPrinter(columns)
/** The column FILES shows the current size, not the size in the requested time. */
const printUsers = createRowPrinter([
  ...columns,
  {
    title: 'FILES',
    cell: ({ user }: Use) => (user?.storedFileBytes == null ? '-' : formatDecimalBytes(user.storedFileBytes)),
  },
])

const rounded = (value: number) => String(+value.toFixed(2))
