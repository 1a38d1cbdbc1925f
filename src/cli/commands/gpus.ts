import type { Command } from 'commander'
import { GpusDocument, type GpusQuery } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, withOutput } from '../cli.ts'
import { type Column, structured, table } from '../render.ts'

type Gpu = GpusQuery['system']['gpus'][number]

export function addGpus(program: Command, cli: Cli): void {
  withOutput(program.command('gpus'))
    .description('list the GPUs and the jobs that use them')
    .action(async ({ output }: OutputOptions) => {
      const { gpus } = (await cli.connection().request(GpusDocument, {})).system
      await cli.terminal.write(output === 'table' ? table(cli.terminal, gpus, columns) : structured(gpus, output))
    })
}

const columns: readonly Column<Gpu>[] = [
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
]
