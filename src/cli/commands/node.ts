import { type Command, InvalidArgumentError } from 'commander'
import { parse as parseYaml, YAMLError } from 'yaml'
import {
  AddNodeDocument,
  type AddNodeInput,
  type DeviceInput,
  type NodeRowFragment,
  type PoolNodeState,
  RemoveNodeDocument,
  UpdateNodeDocument,
} from '../../client/generated/graphql.ts'
import { addOutputOption, type Cli, expectSuccess, type OutputOptions, rowPrinter } from '../cli.ts'
import { runForEach } from '../each.ts'
import { findNode, findNodes, resolvePool } from '../nodes.ts'
import { readAmount, readWhole } from '../numbers.ts'
import { structured } from '../render.ts'

interface PoolOptions extends OutputOptions {
  pool?: string
}

interface AddOptions extends PoolOptions, Pick<AddNodeInput, 'cpu'> {
  mem: number
  cpuModel?: string
  infiniband?: true
  gpu?: DeviceInput[]
}

export function registerNodeCommand(program: Command, cli: Cli): void {
  const node = program.command('node').description('manage the nodes of a pool')
  withPool(node.command('ls', { isDefault: true }))
    .description('list nodes')
    .action(async ({ output, pool }: PoolOptions) => print(cli, await findNodes(cli, pool), output))
  withPool(node.command('add').argument('<name>'))
    .description('add a node to a pool')
    .requiredOption('--cpu <cores>', 'processor cores', readAmount)
    .requiredOption('--mem <GiB>', 'memory in GiB', readWhole)
    .option('--cpu-model <text>', 'processor model, matched by cpuModel filters')
    .option('--infiniband', 'the node has InfiniBand')
    .option('--gpu <yaml>', "GPUs of one kind: '{model: T4, memoryGib: 16, count: 2}'; may be repeated", readGpus)
    .action((name: string, options: AddOptions) => add(cli, name, options))
  change(cli, node, {
    verb: 'cordon',
    state: 'CORDONED',
    description: 'start no more jobs on nodes; running jobs continue',
  })
  change(cli, node, { verb: 'drain', state: 'DRAINING', description: 'cordon nodes before removing them' })
  change(cli, node, { verb: 'uncordon', state: 'READY', description: 'start jobs on nodes again' })
  withPool(node.command('rm').argument('<node...>'))
    .description('remove idle nodes from their pool')
    .action(async (said: string[], { output, pool }: PoolOptions) => {
      const known = await findNodes(cli, pool)
      const gone = await runForEach(cli, said, async (each) => {
        const input = { id: findNode(known, each).id }
        const { removeNode } = await cli.connection().request(RemoveNodeDocument, { input })
        return expectSuccess(removeNode, 'DeleteSuccess').id
      })
      await cli.terminal.write(output === 'table' ? gone.map((id) => `${id}\n`).join('') : structured(gone, output))
    })
}

const withPool = (command: Command) => addOutputOption(command).option('--pool <name>', 'pool (default: all pools)')

async function add(cli: Cli, name: string, { output, pool, mem, gpu, ...rest }: AddOptions): Promise<void> {
  const input = { name, pool: await resolvePool(cli, pool), memoryGib: mem, ...rest, ...(gpu && { gpus: gpu }) }
  const { addNode: added } = await cli.connection().request(AddNodeDocument, { input })
  await print(cli, [expectSuccess(added, 'AddNodeSuccess').node], output)
}

interface Verb {
  verb: string
  state: PoolNodeState
  description: string
}

function change(cli: Cli, node: Command, { verb, state, description }: Verb): void {
  withPool(node.command(verb).argument('<node...>'))
    .description(description)
    .action(async (said: string[], { output, pool }: PoolOptions) => {
      const known = await findNodes(cli, pool)
      const changed = await runForEach(cli, said, async (each) => {
        const input = { id: findNode(known, each).id, state }
        const { updateNode } = await cli.connection().request(UpdateNodeDocument, { input }, { attempts: 4 })
        return expectSuccess(updateNode, 'UpdateNodeSuccess').node
      })
      await print(cli, changed, output)
    })
}

/** Reads GPUs in the words of the configuration; the server checks them. */
function readGpus(text: string, before: DeviceInput[] = []): DeviceInput[] {
  const gpu = parsed(text)
  if (typeof gpu !== 'object' || gpu === null || Array.isArray(gpu))
    throw new InvalidArgumentError('Expected {model: T4, memoryGib: 16, count: 2}.')
  return [...before, gpu as DeviceInput]
}

function parsed(text: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    if (error instanceof YAMLError) return undefined
    throw error
  }
}

const gibBytes = 2 ** 30
const gib = (bytes: number) => String(Math.round((bytes / gibBytes) * 10) / 10)

const print = rowPrinter<NodeRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'POOL', cell: ({ pool }) => pool },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'STATE', cell: ({ state }) => state, style: ({ state }) => (state === 'READY' ? 'green' : 'yellow') },
  { title: 'CPU', cell: ({ free, capacity }) => `${free.cpu} of ${capacity.cpu}` },
  { title: 'GIB', cell: ({ free, capacity }) => `${gib(free.memoryBytes)} of ${gib(capacity.memoryBytes)}` },
  { title: 'GPUS FREE', cell: ({ free, capacity }) => `${free.gpu} of ${capacity.gpu}` },
])
