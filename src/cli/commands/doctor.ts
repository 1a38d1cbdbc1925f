import type { Command } from 'commander'
import { SelfCheckDocument, type SelfCheckQuery } from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, withOutput } from '../cli.ts'
import { exitCodes } from '../exit.ts'
import { type Column, structured, table } from '../render.ts'

const columns: readonly Column<SelfCheckQuery['selfCheck']['findings'][number]>[] = [
  { title: 'RULE', cell: ({ rule }) => rule },
  { title: 'OBJECT', cell: ({ objectId }) => objectId ?? '-' },
  { title: 'FOUND', cell: ({ message }) => message },
]

const executorColumns: readonly Column<SelfCheckQuery['system']['executors'][number]>[] = [
  { title: 'POOL', cell: ({ pool }) => pool },
  { title: 'EXECUTOR', cell: ({ name }) => name },
  { title: 'VERSION', cell: ({ version }) => version ?? '-' },
  { title: 'AVAILABLE', cell: ({ available }) => (available ? 'yes' : 'no') },
  { title: 'MESSAGE', cell: ({ message }) => message ?? '-' },
]

export function addDoctor(program: Command, cli: Cli): void {
  withOutput(program.command('doctor'))
    .description(
      'check the data of the server against its rules (exit code 1 if a rule is violated), and show restrictions of its executors',
    )
    .action(async ({ output }: OutputOptions) => {
      const { selfCheck, system } = await cli.connection().request(SelfCheckDocument, {}, { attempts: 4 })
      const { executors } = system
      const { ok, findings } = selfCheck
      const verdict = ok ? 'no problem found\n' : table(cli.terminal, findings, columns)
      const text = `${verdict}\n${table(cli.terminal, executors, executorColumns)}`
      await cli.terminal.write(output === 'table' ? text : structured({ ...selfCheck, executors }, output))
      if (!ok) cli.exitWith(exitCodes.unexpected)
    })
}
