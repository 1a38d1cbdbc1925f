import type { Command } from 'commander'
import { ClientLine } from '../../client/channel/client-line.ts'
import { kinds } from '../../client/channel/frames.ts'
import { OpenSessionDocument } from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { readCount } from '../reading/numbers.ts'
import { announceSession, copyInto, demandExit, sendAll, toSocketUrl } from '../showing/session-streams.ts'
import { findJob } from '../showing/watch.ts'

interface Options {
  run?: number
  tty: boolean
}

export function registerExecCommand(program: Command, cli: Cli): void {
  program
    .command('exec')
    .argument('<job>')
    .argument('[word...]', 'a command to run in the job, after "--"; default: a login shell')
    .option('--run <number>', 'only if this run is the current one', readCount)
    .option('--no-tty', 'no terminal: stdin, stdout and stderr stay apart')
    .summary('run a command, or a shell, in a running job')
    .description('run a command, or a shell, in a running job; ends with the exit code of the command')
    .action(async (id: string, words: string[], { run, tty }: Options) => {
      const job = await findJob(cli, id)
      if (job.state !== 'RUNNING')
        throw new Stop(exitCodes.refused, `the job is ${job.state}, not RUNNING`, `"berth info ${id}" shows its state`)
      const { terminal } = cli.stdio()
      const size = tty && terminal ? terminal.size() : null
      const input = { jobId: job.id, run, command: words, size }
      const { url, session } = await mutate(cli, OpenSessionDocument, input)
      announceSession(cli, session.id, 'the command')
      cli.exitWith(await runSession(cli, url, size !== null))
    })
}

/** Connects the streams of this process with a session. Returns the exit code of the session's command. */
async function runSession(cli: Cli, path: string, hasTerminal: boolean): Promise<number> {
  const { stdin, stdout, stderr, terminal, onInterrupt } = cli.stdio()
  const line = new ClientLine({
    url: toSocketUrl(cli, path),
    take: (kind, payload) => copyInto(kind === kinds.stderr ? stderr : stdout, payload),
    onCut: () => cli.terminal.progress('berth: the connection is cut; trying again …'),
  })
  const restores = [
    onInterrupt(() => void line.send(kinds.signal, new TextEncoder().encode('INT'))),
    ...(hasTerminal && terminal
      ? [terminal.setRaw(), terminal.onResize((size) => void line.sendJson(kinds.resize, size))]
      : []),
  ]
  try {
    void sendAll(stdin, line)
    return demandExit(await line.ended)
  } finally {
    for (const restore of restores) restore()
    stdin.destroy()
  }
}
