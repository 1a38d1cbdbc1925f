import type { Command } from 'commander'
import type { Executor } from '../../client/generated/graphql.ts'
import { quoteShell } from '../../client/text/shell.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { findJob } from '../showing/watch.ts'

export function registerExecCommand(program: Command, cli: Cli): void {
  program
    .command('exec')
    .argument('<job>')
    .argument('[word...]', 'a command to run in the job, after "--"; default: a shell')
    .passThroughOptions()
    .summary("print the backend's command that opens a shell in a running job")
    .description("print the backend's command that opens a shell, or runs a command, in a running job")
    .action(async (id: string, words: string[]) => {
      const job = await findJob(cli, id)
      if (job.state !== 'RUNNING' || job.nativeId === null)
        throw new Stop(exitCodes.refused, `the job is ${job.state}, not RUNNING`, `"berth info ${id}" shows its state`)
      const { executor, nativeId, currentRun } = job
      const where = currentRun.nodeNames.join(', ')
      const command = toExecCommand(executor, nativeId, words)
      if (!command)
        throw new Stop(
          exitCodes.refused,
          `a job of the executor ${executor} is a process of ${where}`,
          `"pgrep -ag ${nativeId}" there lists its processes`,
        )
      if (executor === 'CONTAINER') cli.terminal.say(`berth: on ${where}; with Podman write podman`)
      if (executor === 'KUBERNETES') cli.terminal.say('berth: in the namespace of the pool')
      await cli.terminal.write(`${command.map(quoteShell).join(' ')}\n`)
    })
}

/** null: the job shares the machine with other processes, so that no command enters it. */
export function toExecCommand(executor: Executor, nativeId: string, given: readonly string[]): string[] | null {
  // Commander passes on the "--" between the job and the command.
  const words = given[0] === '--' ? given.slice(1) : given
  const run = words.length > 0 ? words : ['sh']
  const terminal = words.length > 0 ? [] : ['-it']
  switch (executor) {
    case 'CONTAINER':
      return ['docker', 'exec', ...terminal, nativeId, ...run]
    case 'KUBERNETES': {
      // The pods of a run with several copies.
      const [pod = nativeId] = nativeId.split(' ')
      return ['kubectl', 'exec', ...terminal, pod, '-c', 'job', '--', ...run]
    }
    case 'SLURM':
      return ['srun', `--jobid=${nativeId}`, '--overlap', ...(words.length > 0 ? [] : ['--pty']), ...run]
    default:
      return null
  }
}
