import { type Command, InvalidArgumentError } from 'commander'
import {
  type CapacityReservationRowFragment,
  CapacityReservationRowFragmentDoc,
  CapacityReservationsDocument,
  CreateCapacityReservationDocument,
  DeleteCapacityReservationDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { findNode, findNodes, resolvePool } from '../reading/nodes.ts'
import { readEveryNode } from '../reading/pages.ts'
import { parseTime } from '../reading/times.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'
import { formatTime } from '../showing/render.ts'

interface CreateOptions extends OutputOptions {
  pool?: string
  project: string
  node: string[]
  from: string
  until: string
  hard?: true
  nativeId?: string
}

export function registerReservationCommand(program: Command, cli: Cli): void {
  const reservation = program.command('reservation').description('reserve nodes for a project during a time window')
  addOutputOption(reservation.command('ls', { isDefault: true }))
    .description('list reservations by the start of their windows')
    .action(async ({ output }: OutputOptions) => print(cli, await readReservations(cli), output))
  addOutputOption(reservation.command('create').argument('<name>'), [CapacityReservationRowFragmentDoc])
    .description('reserve nodes')
    .requiredOption('--project <name>', 'project whose jobs may use the nodes')
    .requiredOption('--node <name...>', 'names of the nodes')
    .requiredOption('--from <time>', 'start of the window, such as 2030-01-31T12:00:00Z', readTime)
    .requiredOption('--until <time>', 'end of the window', readTime)
    .option('--pool <name>', 'pool (default: the only pool)')
    .option('--hard', 'end jobs at the end of the window; otherwise they run to completion')
    .option('--native-id <name>', 'name of the reservation in the backend')
    .action((name: string, options: CreateOptions) => create(cli, name, options))
  reservation
    .command('rm')
    .argument('<reservation...>')
    .description('delete reservations; their running jobs continue')
    .action(async (ids: string[]) => {
      await runForEach(cli, ids, async (capacityReservationId) => {
        const { deletedId } = await mutate(cli, DeleteCapacityReservationDocument, { capacityReservationId })
        await cli.terminal.write(`${deletedId}\n`)
      })
    })
}

async function create(cli: Cli, name: string, { output, pool, node, from, until, ...rest }: CreateOptions) {
  const inPool = await resolvePool(cli, pool)
  const nodes = await findNodes(cli, inPool)
  const nodeIds = node.map((each) => findNode(nodes, each).id)
  const input = { name, pool: inPool, nodeIds, startsAt: from, endsAt: until, ...rest }
  await print(cli, [(await mutate(cli, CreateCapacityReservationDocument, input)).capacityReservation], output)
}

function readTime(given: string): string {
  const at = parseTime(given)
  if (!Number.isFinite(at)) throw new InvalidArgumentError('Expected an existing time, such as 2030-01-31T12:00:00Z.')
  return new Date(at).toISOString()
}

const print = createRowPrinter<CapacityReservationRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'POOL', cell: ({ pool }) => pool.name },
  { title: 'PROJECT', cell: ({ project }) => project },
  { title: 'NODES', cell: ({ nodes }) => nodes.map(({ name }) => name).join(',') },
  { title: 'FROM', cell: ({ startsAt }) => formatTime(startsAt) ?? '-' },
  { title: 'UNTIL', cell: ({ endsAt }) => formatTime(endsAt) ?? '-' },
  { title: 'END', cell: ({ hard }) => (hard ? 'hard' : 'jobs finish') },
])

const readReservations = (cli: Cli): Promise<CapacityReservationRowFragment[]> =>
  readEveryNode(
    async (page) => (await cli.connection().request(CapacityReservationsDocument, page)).capacityReservations,
  )
