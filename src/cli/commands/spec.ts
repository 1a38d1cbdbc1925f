import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { addOutputOption, type OutputOptions, printObject } from '../showing/output.ts'
import { formatStructured } from '../showing/render.ts'
import { readSpec, toSpecInput } from '../showing/spec-text.ts'

export function registerSpecCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('spec').argument('<job>'))
    .description('print the spec of a job in YAML, as "berth submit -f" reads it')
    .action(async (id: string, { output }: OutputOptions) => {
      const spec = toSpecInput(await readSpec(cli, id))
      await printObject(cli, spec, output, () => formatStructured(spec, 'yaml'))
    })
}
