import type { Command } from 'commander'
import { SelfCheckDocument, type SelfCheckQuery } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, withOutput } from '../cli.ts'
import { exitCodes } from '../exit.ts'
import { type Column, structured, table } from '../render.ts'

const columns: readonly Column<SelfCheckQuery['selfCheck']['findings'][number]>[] = [
  { title: 'WHAT MUST BE TRUE', cell: ({ rule }) => rule },
  { title: 'OF', cell: ({ objectId }) => objectId ?? '-' },
  { title: 'BUT', cell: ({ message }) => message },
]

export function addDoctor(program: Command, cli: Cli): void {
  withOutput(program.command('doctor'))
    .description('check what the server has stored against its own rules; exit code 1 when something is wrong')
    .action(async ({ output }: OutputOptions) => {
      const { selfCheck } = await cli.connection().request(SelfCheckDocument, {}, { attempts: 4 })
      const { ok, findings } = selfCheck
      const text = ok ? 'nothing is wrong\n' : table(cli.terminal, findings, columns)
      await cli.terminal.write(output === 'table' ? text : structured(selfCheck, output))
      if (!ok) cli.exitWith(exitCodes.unexpected)
    })
}
