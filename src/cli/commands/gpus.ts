import type { Command } from 'commander'
import { GpusDocument, type GpusQuery } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, rowPrinter, withOutput } from '../cli.ts'

type Gpu = GpusQuery['system']['gpus'][number]

export function addGpus(program: Command, cli: Cli): void {
  withOutput(program.command('gpus'))
    .description('list the GPUs and the jobs that use them')
    .action(async ({ output }: OutputOptions) => {
      const { gpus } = (await cli.connection().request(GpusDocument, {})).system
      await print(cli, gpus, output)
    })
}

const print = rowPrinter<Gpu>([
  { title: 'NODE', cell: ({ node }) => node },
  { title: 'GPU', cell: ({ index }) => String(index) },
  { title: 'MODEL', cell: ({ name }) => name },
  { title: 'GIB', cell: ({ memoryGib }) => String(memoryGib) },
  { title: 'CUDA', cell: ({ cuda }) => (cuda.length > 0 ? cuda.join('–') : '-') },
  {
    title: 'HELD BY',
    cell: ({ allocated, job }) => (job ? `${job.id} (${job.user.name})` : allocated ? 'another job' : '-'),
    style: ({ allocated }) => (allocated ? 'cyan' : 'green'),
  },
])
