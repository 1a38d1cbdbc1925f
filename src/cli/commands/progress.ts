import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { addRetryTimeoutOption, callAsRun, type RetryTimeoutOptions } from '../reading/inside.ts'

interface Options extends RetryTimeoutOptions {
  message?: string
}

export function registerProgressCommand(program: Command, cli: Cli): void {
  addRetryTimeoutOption(program.command('progress'))
    .description('report the progress of this job')
    .argument('[fraction]', 'from 0 to 1', readFraction)
    .option('-m, --message <text>', 'current activity')
    .action(async (fraction: number | undefined, options: Options) => {
      const { message } = options
      if (fraction === undefined && message === undefined)
        throw usageError('the progress is missing', 'pass a fraction, --message or both')
      await callAsRun(cli, options, (inside) => inside.reportProgress({ fraction, message }))
    })
}

function readFraction(text: string): number {
  const fraction = Number(text)
  if (text.trim() === '' || !(fraction >= 0 && fraction <= 1))
    throw new InvalidArgumentError('Expected a number from 0 to 1.')
  return fraction
}
