import type { Command } from 'commander'
import {
  ReleaseSlotDocument,
  ReserveSlotDocument,
  type SlotReservationState,
  type SlotRowFragment,
  SlotRowFragmentDoc,
  SlotsDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { readChoices } from '../reading/choices.ts'
import { readEveryNode } from '../reading/pages.ts'
import { readSeconds } from '../reading/times.ts'
import { addOutputOption, createRowPrinter, isTable, type OutputOptions } from '../showing/output.ts'
import { formatTime } from '../showing/render.ts'

const print = createRowPrinter<SlotRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'USER', cell: ({ user }) => user.name },
  { title: 'EXPIRES', cell: ({ expiresAt }) => formatTime(expiresAt) ?? '-' },
  { title: 'JOB', cell: ({ job }) => job?.id ?? '-' },
])

export function registerSlotCommand(program: Command, cli: Cli): void {
  const slot = program
    .command('slot')
    .description('reserve slots: places among your active jobs, before you upload data')
  addOutputOption(slot.command('ls', { isDefault: true }), [SlotRowFragmentDoc])
    .description('list slots, newest first')
    .option('-s, --state <state...>', 'in these states: ACTIVE, CONSUMED, EXPIRED, RELEASED', readState)
    .action(async ({ output, state: states }: OutputOptions & { state?: SlotReservationState[] }) => {
      const read = cli.connection().request
      await print(
        cli,
        await readEveryNode(async (page) => (await read(SlotsDocument, { ...page, states })).slotReservations),
        output,
      )
    })
  addOutputOption(slot.command('reserve'), [SlotRowFragmentDoc])
    .description('reserve a slot and print its id, which "berth submit --slot" takes')
    .option('--ttl <time>', 'how long the slot is kept: 90s, 10m (default: 5m)', readSeconds)
    .action(async ({ output, ttl: ttlSeconds }: OutputOptions & { ttl?: number }) => {
      const { reservation } = await mutate(cli, ReserveSlotDocument, { ttlSeconds })
      if (isTable(output)) await cli.terminal.write(`${reservation.id}\n`)
      else await print(cli, [reservation], output)
    })
  addOutputOption(slot.command('release').argument('<slot...>'), [SlotRowFragmentDoc])
    .description('give slots back')
    .action(async (ids: string[], { output }: OutputOptions) => {
      const released = await runForEach(cli, ids, async (slotReservationId) => {
        const nextIfMissing = '"berth slot ls" lists your slots'
        return (await mutate(cli, ReleaseSlotDocument, { slotReservationId }, { nextIfMissing })).reservation
      })
      await print(cli, released, output)
    })
}

const readState = readChoices<SlotReservationState>(['ACTIVE', 'CONSUMED', 'EXPIRED', 'RELEASED'])
