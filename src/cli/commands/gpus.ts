import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { type ListedGpu, readGpus } from '../reading/nodes.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'

export function registerGpusCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('gpus'))
    .description('list the GPUs and the jobs that use them')
    .action(async ({ output }: OutputOptions) => {
      await print(cli, await readGpus(cli), output)
    })
}

const print = createRowPrinter<ListedGpu>([
  { title: 'NODE', cell: ({ node }) => node.name },
  { title: 'GPU', cell: ({ index }) => String(index) },
  { title: 'MODEL', cell: ({ model }) => model },
  { title: 'GIB', cell: ({ memoryBytes }) => String(+(memoryBytes / 2 ** 30).toFixed(1)) },
  { title: 'CUDA', cell: ({ cuda }) => (cuda.length > 0 ? cuda.join('–') : '-') },
  {
    title: 'HELD BY',
    cell: ({ allocated, job }) => (job ? `${job.id} (${job.user.name})` : allocated ? 'another job' : '-'),
    style: ({ allocated }) => (allocated ? 'cyan' : 'green'),
  },
])
