import type { Command } from 'commander'
import { RetryJobsDocument } from '../../client/generated/graphql.ts'
import { type Cli, expectSuccess } from '../frame/cli.ts'
import { countWordsBeforeSeparator } from '../frame/command-path.ts'
import { createStop, seeJobs, usageError } from '../frame/exit.ts'
import { pickFilterFlags } from '../reading/filter.ts'
import { rememberJob } from '../reading/last-job.ts'
import { actOnChosen, addSelectionFlags } from '../reading/selection.ts'
import { buildSpec, type SpecFlags } from '../reading/spec.ts'
import { createRowPrinter, isTable } from '../showing/output.ts'
import { changedJobColumns } from '../showing/render.ts'
import {
  addSpecFlags,
  addSubmissionFlags,
  chooseRetries,
  printPreview,
  printSubmission,
  type SubmissionOptions,
  toSubmissionInput,
} from './submit.ts'

type RetryOptions = SpecFlags & SubmissionOptions

export function registerRetryCommand(program: Command, cli: Cli): void {
  const retry = program.command('retry').argument('[job]').argument('[command...]', 'another command, after "--"')
  addSelectionFlags(addSubmissionFlags(addSpecFlags(retry), (command) => isMatching(command)))
    .summary('submit final jobs again')
    .description(
      'submit a final job, or all that match filters, again as new jobs; flags change the spec; prints the new id',
    )
    .action(async (first: string | undefined, rest: string[], options: RetryOptions) => {
      // With filters, the first word is not a job id, and all words are the command.
      const [jobId, command] = countWordsBeforeSeparator(retry) > 0 ? [first, rest] : [undefined, retry.args]
      const overrides = buildSpec({ ...cli, command, flags: options, yaml: null, warn: () => undefined })
      if (jobId === undefined || isMatching(retry)) return retryMatching(cli, retry, { jobId, overrides, options })
      const input = { jobId, overrides, ...toSubmissionInput(options) }
      if (options.dryRun) return printPreview(cli, { retry: input }, options)
      const answer = await cli.connection().retry(input, chooseRetries(options))
      if (answer.__typename === 'NotFoundProblem') throw createStop(answer, seeJobs)
      await printSubmission(cli, expectSuccess(answer, 'RetryJobSuccess'), options)
    })
}

const isMatching = (retry: Command) => Object.keys(pickFilterFlags(retry)).length > 0

const print = createRowPrinter(changedJobColumns)

interface Retrying {
  jobId: string | undefined
  overrides: ReturnType<typeof buildSpec>
  options: RetryOptions
}

async function retryMatching(cli: Cli, command: Command, { jobId, overrides, options }: Retrying): Promise<void> {
  const { output, idempotencyKey, keyTtl, slot, follow, wait } = options
  if (slot || follow || wait !== undefined) throw usageError('--slot, --follow, --wait and --no-wait are for one job')
  const chosen = await actOnChosen(cli, command, jobId === undefined ? [] : [jobId], {
    verb: 'retry',
    past: 'submitted again',
    success: 'RetryJobSuccess',
    request: async (selection) => {
      const input = { selection, overrides, idempotencyKey, idempotencyTtlSeconds: keyTtl }
      return (await cli.connection().request(RetryJobsDocument, { input })).retryJobs
    },
  })
  const jobs = chosen.done.map(({ job }) => job)
  const newest = jobs.at(-1)
  if (newest) await rememberJob(cli.env, cli.connection().url, newest.id)
  if (chosen.isMatching && isTable(output)) await cli.terminal.write(chosen.summary)
  else await print(cli, jobs, output)
}
