import type { Command } from 'commander'
import { type Cli, expectSuccess } from '../cli.ts'
import { seeJobs, stopForProblem } from '../exit.ts'
import { buildSpec, type SpecFlags } from '../spec.ts'
import {
  addSpecFlags,
  addSubmissionFlags,
  printPreview,
  printSubmission,
  type SubmissionOptions,
  submissionInput,
  submissionRetries,
} from './submit.ts'

export function registerRetryCommand(program: Command, cli: Cli): void {
  const retry = program.command('retry').argument('<job>').argument('[command...]', 'another command, after "--"')
  addSubmissionFlags(addSpecFlags(retry))
    .summary('submit a final job again')
    .description('submit a final job again as a new job; flags change its spec; prints the new id')
    .action(async (jobId: string, command: string[], options: SpecFlags & SubmissionOptions) => {
      const overrides = buildSpec({ ...cli, command, flags: options, yaml: null, warn: () => undefined })
      const input = { jobId, overrides, ...submissionInput(options) }
      if (options.dryRun) return printPreview(cli, { retry: input }, options)
      const answer = await cli.connection().retry(input, submissionRetries(options))
      if (answer.__typename === 'NotFoundProblem') throw stopForProblem(answer, seeJobs)
      await printSubmission(cli, expectSuccess(answer, 'RetryJobSuccess'), options)
    })
}
