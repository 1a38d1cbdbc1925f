import type { Command } from 'commander'
import { PlanPoolsDocument } from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { addOutputOption, type OutputOptions, printObject } from '../showing/output.ts'
import { formatSheet } from '../showing/render.ts'

export function registerPlanCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('plan'), ['considered', 'started', 'preempted'])
    .description('run a scheduling pass in every pool now')
    .option('--pool <name>', 'only this pool')
    .action(async ({ output, pool }: OutputOptions & { pool?: string }) => {
      const { considered, started, preempted } = await mutate(cli, PlanPoolsDocument, { pool })
      const done = { considered, started, preempted }
      const entries = Object.entries(done).map(([name, count]) => [name, String(count)] as const)
      await printObject(cli, done, output, () => formatSheet(cli.terminal, entries))
    })
}
