import { type Command, InvalidArgumentError } from 'commander'
import { CleanupJobsDocument } from '../../client/generated/graphql.ts'
import { type Cli, expectSuccess } from '../cli.ts'
import { addOutputOption, type OutputOptions, printObject } from '../output.ts'
import { countJobs } from '../render.ts'

export function registerCleanupCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('cleanup'), ['deletedCount'])
    .description('delete old final jobs with their logs')
    .option('--older-than <days>', 'minimum age since the end of the job, 1d to 365d', readDays, 30)
    .action(async ({ output, olderThan }: OutputOptions & { olderThan: number }) => {
      const deletedCount = await removeAll(cli, olderThan)
      const text = `${countJobs(deletedCount)} deleted\n`
      await printObject(cli, { deletedCount }, output, () => text)
    })
}

/** Each call deletes one batch. Final jobs stay final, so a repeated call is safe. */
async function removeAll(cli: Cli, olderThanDays: number): Promise<number> {
  const input = { olderThanDays }
  const { cleanupJobs } = await cli.connection().request(CleanupJobsDocument, { input }, { attempts: 4 })
  const { deletedCount } = expectSuccess(cleanupJobs, 'CleanupJobsSuccess')
  return deletedCount === 0 ? 0 : deletedCount + (await removeAll(cli, olderThanDays))
}

function readDays(text: string): number {
  const [, days] = /^(\d{1,9})d?$/.exec(text) ?? []
  if (days === undefined) throw new InvalidArgumentError('Expected a number of days, such as 30d.')
  return Number(days)
}
