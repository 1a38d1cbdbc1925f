import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDocument } from 'yaml'
import {
  AddNodeDocument,
  type AddNodeInput,
  DeleteNodeDocument,
  type GpuInput,
  type NodeRowFragment,
  NodeRowFragmentDoc,
  type PoolNodeState,
  UpdateNodeDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { runForEach } from '../frame/each.ts'
import { runServerProgram } from '../frame/server.ts'
import type { RowShape } from '../reading/fields.ts'
import { findNode, findNodes, resolvePool } from '../reading/nodes.ts'
import { readAmount, readWhole } from '../reading/numbers.ts'
import { addWatchOption, makeTableView, pollRows, watchRows } from '../showing/live.ts'
import { addOutputOption, createRowPrinter, type OutputOptions, printIds } from '../showing/output.ts'
import type { Column } from '../showing/render.ts'

const gibBytes = 2 ** 30

interface PoolOptions extends OutputOptions {
  pool?: string
}

interface StateOptions extends PoolOptions {
  reason?: string
}

interface AddOptions extends PoolOptions, Pick<AddNodeInput, 'cpu' | 'engine'> {
  mem?: number
  cpuModel?: string
  infiniband?: true
  gpu?: GpuInput[]
}

const checkOptions = ['ca', 'cert', 'key', 'image'] as const

function addCheckCommand(node: Command, cli: Cli): void {
  node
    .command('check')
    .summary('ask the container engine of a machine, and print its entry for the configuration')
    .description(
      'ask the container engine of a machine, as a server of this account would, and print its entry for the configuration, or what to repair; exits with 1 if there is something to repair',
    )
    .argument('<engine>', 'ssh://user@host:port, tcp://host:port or unix:///path')
    .option('--ca <file>', 'the authority of an engine at tcp://')
    .option('--cert <file>', 'the certificate of the server')
    .option('--key <file>', 'the key of the server')
    .option(
      '--image <name>',
      'container.image of the server, whose container looks at the disk and the GPUs (default: ubuntu:22.04)',
    )
    .action((engine: string, options: Partial<Record<(typeof checkOptions)[number], string>>) => {
      const given = checkOptions.flatMap((name) => (options[name] === undefined ? [] : [`--${name}=${options[name]}`]))
      runServerProgram(cli, 'check-machine', [...given, '--', engine])
    })
}

export function registerNodeCommand(program: Command, cli: Cli): void {
  const node = program.command('node').description('manage the nodes of a pool')
  addWatchOption(withPool(node.command('ls', { isDefault: true })))
    .description('list nodes')
    .action(async ({ output, pool, watch }: PoolOptions & { watch?: true }) => {
      const read = () => findNodes(cli, pool)
      if (!watch) return print(cli, await read(), output)
      await watchRows(cli, { output, source: pollRows(read), view: makeTableView(cli, columns, output) })
    })
  withPool(node.command('add').argument('<name>'))
    .summary('add a node to a pool')
    .description(
      'add a node to a pool; with --engine, the server first asks the container engine of the machine, and adds it with its cores, memory and GPUs, or says what to repair',
    )
    .option('--engine <address>', 'the container engine of the machine: ssh://user@host:port')
    .option('--cpu <cores>', 'processor cores (default with --engine: those of the machine)', readAmount)
    .option('--mem <GiB>', 'memory in GiB (default with --engine: that of the machine)', readWhole)
    .option('--cpu-model <text>', 'processor model, matched by cpuModel filters')
    .option('--infiniband', 'the node has InfiniBand')
    .option('--gpu <yaml>', "GPUs of one kind: '{model: T4, memoryGib: 16, count: 2}'; may be repeated", readGpus)
    .action((name: string, options: AddOptions) => add(cli, name, options))
  addCheckCommand(node, cli)
  const setState = (verb: string, state: PoolNodeState, description: string) =>
    withPool(node.command(verb).argument('<node...>'))
      .description(description)
      .action((named: string[], options: StateOptions) => changeNodes(cli, { named, state }, options))
  setState('cordon', 'CORDONED', 'start no more jobs on nodes; running jobs continue').addOption(reasonOption())
  setState('drain', 'DRAINING', 'cordon nodes before removing them').addOption(reasonOption())
  setState('uncordon', 'READY', 'start jobs on nodes again')
  withPool(node.command('rm').argument('<node...>'), [])
    .description('remove idle nodes from their pool')
    .action(async (said: string[], { output, pool }: PoolOptions) => {
      const known = await findNodes(cli, pool)
      const gone = await runForEach(cli, said, async (each) => {
        return (await mutate(cli, DeleteNodeDocument, { nodeId: findNode(known, each).id })).deletedId
      })
      await printIds(cli, gone, output)
    })
}

const reasonOption = () => new Option('--reason <text>', 'why, shown to other users')

const withPool = (command: Command, printed: RowShape = [NodeRowFragmentDoc]) =>
  addOutputOption(command, printed).option('--pool <name>', 'pool (default: all pools)')

async function add(cli: Cli, name: string, { output, pool, mem, gpu, ...rest }: AddOptions): Promise<void> {
  const amounts = { ...(mem !== undefined && { memoryBytes: mem * gibBytes }), ...(gpu && { gpus: gpu }) }
  const input = { name, pool: await resolvePool(cli, pool), ...rest, ...amounts }
  const { node, troubles } = await mutate(cli, AddNodeDocument, input)
  await print(cli, [node], output)
  for (const trouble of troubles) cli.terminal.say(`${name}: ${trouble}`)
}

interface Change {
  named: string[]
  state: PoolNodeState
}

async function changeNodes(cli: Cli, { named, state }: Change, { output, pool, reason }: StateOptions): Promise<void> {
  const known = await findNodes(cli, pool)
  const changed = await runForEach(cli, named, async (each) => {
    const input = { nodeId: findNode(known, each).id, state, ...(reason !== undefined && { reason }) }
    return (await mutate(cli, UpdateNodeDocument, input, { attempts: 4 })).node
  })
  await print(cli, changed, output)
}

/** Reads a GPU from `field=value` pairs. The server validates the fields. */
function readGpus(text: string, before: GpuInput[] = []): GpuInput[] {
  const document = parseDocument(text, { logLevel: 'error' })
  const gpu: unknown = document.errors.length > 0 ? undefined : document.toJS()
  if (typeof gpu !== 'object' || gpu === null || Array.isArray(gpu))
    throw new InvalidArgumentError('Expected {model: T4, memoryGib: 16, count: 2}.')
  const { memoryGib, ...named } = gpu as Record<string, unknown>
  const memoryBytes = typeof memoryGib === 'number' ? Math.round(memoryGib * gibBytes) : memoryGib
  return [...before, { ...named, memoryBytes } as GpuInput]
}

/** Describes why a node has its state, who set it, why its machine does not answer, and what to repair there. */
const describeState = ({ stateInfo, stateBy, machine }: NodeRowFragment) =>
  [stateInfo, stateBy && `(${stateBy.name})`, machine?.silence, ...(machine?.troubles ?? [])]
    .filter((part) => part != null)
    .join(' ') || '-'

function describeMachine({ machine }: NodeRowFragment): string {
  if (!machine) return '-'
  if (machine.silentSince) return `silent since ${machine.silentSince}`
  if (machine.engine === null) return machine.silence === null ? 'not asked yet' : 'silent'
  return `${machine.engine}, ${Math.round((machine.latencySeconds ?? 0) * 1_000)} ms`
}

const gib = (bytes: number) => String(Math.round((bytes / gibBytes) * 10) / 10)

const columns: readonly Column<NodeRowFragment>[] = [
  { title: 'ID', cell: ({ id }) => id, drop: 1 },
  { title: 'POOL', cell: ({ pool }) => pool.name, drop: 2 },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'STATE', cell: ({ state }) => state, style: ({ state }) => (state === 'READY' ? 'green' : 'yellow') },
  { title: 'CPU', cell: ({ free, capacity }) => `${free.cpu} of ${capacity.cpu}` },
  { title: 'GIB', cell: ({ free, capacity }) => `${gib(free.memoryBytes)} of ${gib(capacity.memoryBytes)}` },
  { title: 'GPUS FREE', cell: ({ free, capacity }) => `${free.gpu} of ${capacity.gpu}` },
  { title: 'ENGINE', cell: describeMachine, drop: 3 },
  { title: 'WHY', cell: describeState, shrinks: true },
]

const print = createRowPrinter(columns)
