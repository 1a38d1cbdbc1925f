import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { RequestFailed } from '../../client/connection/failure.ts'
import type { JobFilter, JobOrder, LiveJobFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { createStopForFailure } from '../frame/exit.ts'
import { applyStyle } from '../frame/terminal.ts'
import { selectFields } from '../reading/fields.ts'
import { nowMs } from '../reading/times.ts'
import { isTable, type Output, selectColumns } from './output.ts'
import { type Column, formatStructured, formatTime, table } from './render.ts'

/** Live lists. A terminal shows a view that is redrawn; other outputs get a JSON line for each change. */

interface Rows<Row> {
  rows: readonly Row[]
  /** Why the rows may be out of date, and since when; null: they are live. */
  trouble: { message: string; since: Date } | null
}

export interface LiveView<Row> {
  output: Output
  source: AsyncIterable<Rows<Row>>
  /** Formats the rows for people. */
  view: (rows: readonly Row[]) => string
}

export const makeTableView =
  <Row>(cli: Cli, columns: readonly Column<Row>[], output: Output): LiveView<Row>['view'] =>
  (rows) =>
    table(cli.terminal, rows, selectColumns(columns, output))

/** Shows the rows of `source` until it ends, or until Ctrl-C. */
export async function watchRows<Row extends { id: string }>(
  cli: Cli,
  { output, source, view }: LiveView<Row>,
): Promise<void> {
  cli.leaveOnInterrupt('')
  const screen = isTable(output) ? cli.terminal.openScreen() : null
  let known: ReadonlyMap<string, string> = new Map()
  for await (const { rows, trouble } of source) {
    if (screen) {
      screen.draw(`${view(rows)}${troubleText(cli, trouble)}`)
      continue
    }
    const next = new Map(rows.map((row) => [row.id, JSON.stringify(row)]))
    for (const change of findChanges(known, next)) await printChange(cli, change, output)
    known = next
  }
  screen?.close()
}

export const addWatchOption = (command: Command): Command =>
  command.option('-w, --watch', 'keep the view up to date; in a pipe, print a JSON line for each change')

interface Change {
  change: 'ADDED' | 'CHANGED' | 'REMOVED'
  row: string
}

export function* findChanges(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Generator<Change> {
  for (const [id, row] of before) if (!after.has(id)) yield { change: 'REMOVED', row }
  for (const [id, row] of after) {
    const old = before.get(id)
    if (old !== row) yield { change: old === undefined ? 'ADDED' : 'CHANGED', row }
  }
}

async function printChange(cli: Cli, { change, row }: Change, output: Output): Promise<void> {
  const whole: unknown = JSON.parse(row)
  const selected = await selectFields(whole, output)
  await cli.terminal.write(formatStructured({ change, row: selected }, 'jsonl'))
}

const troubleText = ({ terminal }: Cli, trouble: Rows<never>['trouble']): string =>
  trouble
    ? `\n${applyStyle(terminal, 'yellow', `not live since ${formatTime(trouble.since.toISOString())}: ${trouble.message}`)}\n`
    : ''

interface LiveSelection {
  filter: JobFilter
  orderBy: JobOrder | undefined
  first: number
}

export async function* followJobs(
  cli: Cli,
  { filter, orderBy, first }: LiveSelection,
): AsyncGenerator<Rows<LiveJobFragment>, void, void> {
  const list = cli.connection().liveJobs({ filter, first, ...(orderBy && { orderBy }) })
  let wake = Promise.withResolvers<void>()
  const unsubscribe = list.subscribe(() => wake.resolve())
  try {
    for (;;) {
      await wake.promise
      wake = Promise.withResolvers()
      const { jobs, isLoaded, state, since, error } = list.getSnapshot()
      if (state === 'ended') {
        if (error) throw createStopForFailure(error)
        return
      }
      if (isLoaded)
        yield { rows: jobs, trouble: state === 'live' ? null : { message: error?.message ?? 'connecting', since } }
    }
  } finally {
    unsubscribe()
    list.close()
  }
}

const pollMs = 2_000

/** Polls rows until the last ones are read. If a read fails, yields the old rows with the error. */
export async function* pollRows<Row>(
  read: () => Promise<readonly Row[]>,
  areLast: (rows: readonly Row[]) => boolean = () => false,
): AsyncGenerator<Rows<Row>, void, void> {
  let rows = await read()
  let trouble = null as Rows<Row>['trouble']
  for (;;) {
    yield { rows, trouble }
    if (!trouble && areLast(rows)) return
    await sleep(pollMs)
    try {
      rows = await read()
      trouble = null
    } catch (error) {
      if (!(error instanceof RequestFailed) || !error.retryable) throw error
      trouble = { message: error.message, since: trouble?.since ?? new Date(nowMs()) }
    }
  }
}
