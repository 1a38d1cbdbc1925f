import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../cli.ts'
import { usageError } from '../exit.ts'
import { addPatienceOption, callAsRun, type PatientOptions } from '../inside.ts'

interface Options extends PatientOptions {
  message?: string
}

export function registerProgressCommand(program: Command, cli: Cli): void {
  addPatienceOption(program.command('progress'))
    .description('inside a job: report its progress')
    .argument('[fraction]', '0 … 1', fractionOf)
    .option('-m, --message <text>', 'what it is doing')
    .action(async (fraction: number | undefined, options: Options) => {
      const { message } = options
      if (fraction === undefined && message === undefined) throw usageError('give a fraction, a message or both')
      const report = { ...(fraction !== undefined && { fraction }), ...(message !== undefined && { message }) }
      await callAsRun(cli, options, (inside) => inside.reportProgress(report))
    })
}

function fractionOf(text: string): number {
  const fraction = Number(text)
  if (text.trim() === '' || !(fraction >= 0 && fraction <= 1)) throw new InvalidArgumentError('It must be 0 … 1.')
  return fraction
}
