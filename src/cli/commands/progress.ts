import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../cli.ts'
import { usage } from '../exit.ts'
import { asRun, type PatientOptions, withPatience } from '../inside.ts'

interface Options extends PatientOptions {
  message?: string
}

export function addProgress(program: Command, cli: Cli): void {
  withPatience(program.command('progress'))
    .description('inside a job: report its progress')
    .argument('[fraction]', '0 … 1', fractionOf)
    .option('-m, --message <text>', 'what it is doing')
    .action(async (fraction: number | undefined, options: Options) => {
      const { message } = options
      if (fraction === undefined && message === undefined) throw usage('give a fraction, a message or both')
      const report = { ...(fraction !== undefined && { fraction }), ...(message !== undefined && { message }) }
      await asRun(cli, options, (inside) => inside.reportProgress(report))
    })
}

function fractionOf(text: string): number {
  const fraction = Number(text)
  if (text.trim() === '' || !(fraction >= 0 && fraction <= 1)) throw new InvalidArgumentError('It must be 0 … 1.')
  return fraction
}
