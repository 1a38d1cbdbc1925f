import type { Command } from 'commander'
import { SelfCheckDocument, type SelfCheckQuery } from '../../client/generated/graphql.ts'
import type { Cli } from '../cli.ts'
import { exitCodes } from '../exit.ts'
import { addOutputOption, type OutputOptions, printObject } from '../output.ts'
import { type Column, table } from '../render.ts'

const columns: readonly Column<SelfCheckQuery['selfCheck']['findings'][number]>[] = [
  { title: 'RULE', cell: ({ rule }) => rule },
  { title: 'OBJECT', cell: ({ objectId }) => objectId ?? '-' },
  { title: 'FOUND', cell: ({ message }) => message },
]

const executorColumns: readonly Column<SelfCheckQuery['system']['executors'][number]>[] = [
  { title: 'POOL', cell: ({ pool }) => pool.name },
  { title: 'EXECUTOR', cell: ({ name }) => name },
  { title: 'VERSION', cell: ({ version }) => version ?? '-' },
  { title: 'AVAILABLE', cell: ({ available }) => (available ? 'yes' : 'no') },
  { title: 'MESSAGE', cell: ({ message }) => message ?? '-' },
]

export function registerDoctorCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('doctor'))
    .summary('check the server for problems')
    .description(
      'check the data of the server, the leaders of its pools and its executors; exits with 1 if it finds a problem',
    )
    .action(async ({ output }: OutputOptions) => {
      const { selfCheck, pools, system } = await cli.connection().request(SelfCheckDocument, {}, { attempts: 4 })
      const { executors } = system
      const leaderless = pools.filter(({ leader }) => leader === null)
      const findings = [...selfCheck.findings, ...leaderless.map(leaderFinding)]
      const ok = findings.length === 0
      const verdict = ok ? 'no problem found\n' : table(cli.terminal, findings, columns)
      const text = `${verdict}\n${table(cli.terminal, executors, executorColumns)}`
      await printObject(cli, { ...selfCheck, ok, findings, executors }, output, () => text)
      for (const { name } of leaderless) cli.terminal.say(leaderAdvice(name))
      if (!ok) cli.exitWith(exitCodes.unexpected)
    })
}

const leaderFinding = ({ id, name }: { id: string; name: string }) => ({
  rule: 'every pool has a leader',
  objectId: id,
  message: `Pool ${name} has no leader: its queued jobs do not start`,
})

const leaderAdvice = (pool: string) =>
  `berth: pool ${pool} needs a server with the role scheduler and this pool in its configuration (a local pool: on its machine, with its dataDir); see the log of that server, or start it with "berth serve"`
