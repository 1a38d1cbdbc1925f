import type { Command } from 'commander'
import {
  EndSessionDocument,
  type SessionRowFragment,
  SessionRowFragmentDoc,
  SessionsDocument,
} from '../../client/generated/graphql.ts'
import { quoteShell } from '../../client/text/shell.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { unknownJob } from '../frame/exit.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'

export function registerSessionsCommand(program: Command, cli: Cli): void {
  const sessions = program.command('sessions').description('list and end sessions in a job')
  addOutputOption(sessions.command('ls').argument('<job>'), [SessionRowFragmentDoc])
    .description('list the newest sessions in a job')
    .action(async (id: string, { output }: OutputOptions) => {
      const { job } = await cli.connection().request(SessionsDocument, { id })
      if (!job) throw unknownJob(id)
      await print(cli, job.sessions, output)
    })
  sessions
    .command('end')
    .argument('<session>')
    .description('end a session')
    .action(async (sessionId: string) => {
      const nextIfMissing = '"berth sessions ls JOB" lists the sessions in a job'
      await mutate(cli, EndSessionDocument, { sessionId }, { nextIfMissing })
      await cli.terminal.write(`${sessionId}\n`)
    })
}

const print = createRowPrinter<SessionRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'USER', cell: ({ openedBy }) => openedBy?.name ?? '-' },
  {
    title: 'STATE',
    cell: ({ isOpen, exitCode }) => (isOpen ? 'open' : exitCode === null ? 'over' : `exit ${exitCode}`),
  },
  { title: 'SINCE', cell: ({ createdAt }) => createdAt, drop: 2 },
  { title: 'IN', cell: ({ bytesIn }) => String(bytesIn), drop: 1 },
  { title: 'OUT', cell: ({ bytesOut }) => String(bytesOut), drop: 1 },
  { title: 'WHAT', cell: describeWhat, shrinks: true },
])

function describeWhat({ port, command }: SessionRowFragment): string {
  if (port !== null) return `port ${port}`
  return command.length === 0 ? 'shell' : command.map(quoteShell).join(' ')
}
