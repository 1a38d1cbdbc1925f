import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { exitCodes } from '../frame/exit.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'
import { flattenSpec, readSpec, toSpecInput } from '../showing/spec-text.ts'

interface Difference {
  field: string
  first: string | null
  second: string | null
}

const print = createRowPrinter<Difference>([
  { title: 'FIELD', cell: ({ field }) => field },
  { title: 'FIRST', cell: ({ first }) => first ?? '-', style: () => 'red', shrinks: true },
  { title: 'SECOND', cell: ({ second }) => second ?? '-', style: () => 'green', shrinks: true },
])

export function registerDiffCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('diff').argument('<job>').argument('<other>'))
    .description('compare the specs of two jobs; exits with 1 if they differ')
    .action(async (id: string, other: string, { output }: OutputOptions) => {
      const read = async (each: string) => flattenSpec(toSpecInput(await readSpec(cli, each)))
      const [first, second] = await Promise.all([read(id), read(other)])
      const fields = [...new Set([...first.keys(), ...second.keys()])].sort()
      const differences = fields
        .map((field) => ({ field, first: first.get(field) ?? null, second: second.get(field) ?? null }))
        .filter((each) => each.first !== each.second)
      if (differences.length === 0) cli.terminal.say('berth: the specs are the same')
      else cli.exitWith(exitCodes.unexpected)
      if (differences.length > 0 || output.format !== 'table') await print(cli, differences, output)
    })
}
