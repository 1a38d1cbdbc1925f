import { writeFileSync } from 'node:fs'
import type { Command, Option } from 'commander'
import type { Cli } from './cli.ts'
import { examples } from './examples.ts'
import { createProgram } from './program.ts'

/** Formats docs/cli-reference.md: every command with its flags. `npm run codegen` runs this file to write it. */
export function formatReference(): string {
  const program = createProgram({} as Cli, () => 'berth')
  const help = program.createHelp()
  const groups = Map.groupBy(help.visibleCommands(program), (command) => command.helpGroup())
  const sections = [...groups]
    .filter(([heading]) => heading !== 'Help:')
    .map(([heading, commands]) => {
      const texts = commands.flatMap((command) => describeCommand(command, [command.name()]))
      return `## ${heading.replace(/:$/, '')}\n\n${texts.join('\n')}`
    })
  return `${preface}\n${describeOptions(program)}\n${sections.join('\n')}`
}

const preface = `# Commands

Each command with its arguments, flags and examples, as \`berth COMMAND --help\` prints them. [The guide](cli.md) explains them by task.

Flags of every command:
`

/** Describes a command, or each command of a group. */
function describeCommand(command: Command, path: readonly string[]): string[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => describeCommand(each, [...path, each.name()]))
  const name = path.join(' ')
  const usage = ['berth', name, command.usage()].join(' ').trim()
  const shown = examples[name]?.join('\n') ?? ''
  return [
    `### berth ${name}\n\n${capitalize(command.description())}.\n\n    ${usage}\n\n${describeOptions(command)}\n\`\`\`sh\n${shown}\n\`\`\`\n`,
  ]
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function describeOptions(command: Command): string {
  const rows = command.options
    .filter(({ hidden, long }) => !hidden && (long !== '--context' || command.parent === null))
    .map(
      (option) => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${escapeCell(describeOption(command, option))} |\n`,
    )
  return rows.length === 0 ? '' : `| flag | |\n|---|---|\n${rows.join('')}`
}

const describeOption = (command: Command, option: Option): string => command.createHelp().optionDescription(option)

const escapeCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

if (import.meta.main) writeFileSync(new URL('../../../docs/cli-reference.md', import.meta.url), formatReference())
