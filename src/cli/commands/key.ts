import type { Command } from 'commander'
import { IdempotencyKeyDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { addOutputOption, type OutputOptions, printObject } from '../showing/output.ts'
import { formatSheet, formatState, formatTime } from '../showing/render.ts'

export function registerKeyCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('key').argument('<key>'))
    .description('show the job of an idempotency key')
    .action(async (key: string, { output }: OutputOptions) => {
      const { idempotencyKey: found } = await cli.connection().request(IdempotencyKeyDocument, { key })
      if (!found)
        throw new Stop(
          exitCodes.notFound,
          `Idempotency key ${JSON.stringify(key)} not found`,
          'you never used it, or it has expired',
        )
      const { job } = found
      const entries = [
        ['key', found.key],
        ['job', job.id],
        ['state', formatState(job)],
        ['created', formatTime(found.createdAt)],
        ['expires', formatTime(found.expiresAt)],
      ] as const
      await printObject(cli, found, output, () => formatSheet(cli.terminal, entries))
    })
}
