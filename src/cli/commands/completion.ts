import { Argument, type Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { complete, completionScripts, type Shell, shells } from '../frame/completion.ts'
import { readContextOption } from '../frame/context-option.ts'
import { sanitizeText } from '../frame/terminal.ts'

export function registerCompletionCommand(program: Command, cli: Cli): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', shells.join(', ')).choices([...shells]))
    .description('print the script that completes commands, flags, jobs and names in a shell')
    .action((shell: Shell) => cli.terminal.write(completionScripts[shell]))
  program
    .command('__complete', { hidden: true })
    .argument('[word...]')
    .action(async (words: string[]) => {
      const find = async () => {
        cli.useContext(readContextOption(() => program, words))
        return complete(cli, program, words)
      }
      // Completes without live values if the server is unreachable.
      const found = await find().catch(() => [])
      const lines = found.map(
        ({ value, about }) => `${sanitizeText(value)}\t${sanitizeText(about).replaceAll('\t', ' ')}\n`,
      )
      await cli.terminal.write(lines.join(''))
    })
}
