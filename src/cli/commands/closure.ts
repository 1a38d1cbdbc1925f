import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import {
  addRetryTimeoutOption,
  callAsRun,
  parseObject,
  type RetryTimeoutOptions,
  readTextFile,
} from '../reading/inside.ts'

interface Options extends RetryTimeoutOptions {
  show?: boolean
}

export function registerClosureCommand(program: Command, cli: Cli): void {
  addRetryTimeoutOption(program.command('closure'))
    .summary('save the state from which the next run continues')
    .description('save the state (closure) from which the next run of this job continues, or show the saved one')
    .argument('[file]', 'JSON object of at most 256 KiB; "-" is stdin', '-')
    .option('--show', 'print the closure of an earlier run; exits with 5 if no run saved one')
    .action(async (file: string, options: Options) => {
      if (options.show) return show(cli)
      const closure = parseObject(await readTextFile(cli, file), 'The closure')
      await callAsRun(cli, options, (inside) => inside.saveClosure(closure))
    })
}

async function show(cli: Cli): Promise<void> {
  const path = cli.env['BERTH_CLOSURE']
  if (!path) throw new Stop(exitCodes.notFound, 'No earlier run of this job saved a closure')
  await cli.terminal.write(`${(await readTextFile(cli, path)).trimEnd()}\n`)
}
