import type { Command } from 'commander'
import { GpusDocument, type GpusQuery } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { addOutputOption, type OutputOptions, rowPrinter } from '../output.ts'

type Gpu = GpusQuery['system']['gpus'][number]

export function registerGpusCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('gpus'))
    .description('list the GPUs and the jobs that use them')
    .action(async ({ output }: OutputOptions) => {
      const { gpus } = (await cli.connection().request(GpusDocument, {})).system
      await print(cli, gpus, output)
    })
}

const print = rowPrinter<Gpu>([
  { title: 'NODE', cell: ({ node }) => node.name },
  { title: 'GPU', cell: ({ index }) => String(index) },
  { title: 'MODEL', cell: ({ name }) => name },
  { title: 'GIB', cell: ({ memoryBytes }) => String(+(memoryBytes / 2 ** 30).toFixed(1)) },
  { title: 'CUDA', cell: ({ cuda }) => (cuda.length > 0 ? cuda.join('–') : '-') },
  {
    title: 'HELD BY',
    cell: ({ allocated, job }) => (job ? `${job.id} (${job.user.name})` : allocated ? 'another job' : '-'),
    style: ({ allocated }) => (allocated ? 'cyan' : 'green'),
  },
])
