import { type JobSpecInput, SubmitJobsDocument, type SubmitJobsMutation } from '../client/generated/graphql.ts'
import { createIdempotencyKey } from '../client/jobs/idempotency-key.ts'
import { type Cli, expectSuccess } from './cli.ts'
import { stopForProblem, usageError } from './exit.ts'
import { rememberJob } from './last-job.ts'
import { isTable, type OutputOptions, printIds, rowPrinter } from './output.ts'
import { changedJobColumns, countJobs } from './render.ts'
import { expandSweep, type Parameter } from './sweep.ts'

type Result = Extract<SubmitJobsMutation['submitJobs'], { __typename: 'SubmitJobsSuccess' }>['results'][number]

export interface SweepOptions extends OutputOptions {
  sweep: readonly Parameter[]
  idempotencyKey?: string
  keyTtl?: number
  requiresApproval?: boolean
  follow?: boolean
  wait?: boolean
  slot?: string
  dryRun?: boolean
}

const print = rowPrinter(changedJobColumns)

/** A key for each job makes the request safe to repeat. */
export async function submitSweep(cli: Cli, spec: JobSpecInput, options: SweepOptions): Promise<void> {
  const { sweep, follow, wait, slot, dryRun, output } = options
  if (follow || wait !== undefined || slot) throw usageError('--follow, --wait, --no-wait and --slot are for one job')
  const key = options.idempotencyKey ?? createIdempotencyKey()
  const name = spec.labels?.find((label) => label.key === 'sweep')?.value ?? key.slice(0, 8)
  const specs = expandSweep(spec, sweep, name)
  if (dryRun) return cli.terminal.say(`berth: ${countJobs(specs.length)} would be submitted`)
  const submissions = specs.map((each, i) => ({
    spec: each,
    defaultWorkdir: cli.cwd,
    idempotencyKey: `${key}:${i}`,
    idempotencyTtlSeconds: options.keyTtl,
    requiresApproval: options.requiresApproval,
  }))
  const { submitJobs } = await cli.connection().request(SubmitJobsDocument, { input: { submissions } }, { attempts: 5 })
  const { results } = expectSuccess(submitJobs, 'SubmitJobsSuccess')
  const jobs = results.flatMap((result) => (result.__typename === 'SubmitJobSuccess' ? [result.job] : []))
  const newest = jobs.at(-1)
  if (newest) await rememberJob(cli.env, cli.connection().url, newest.id)
  reportRefusals(cli, results)
  if (isTable(output))
    await printIds(
      cli,
      jobs.map(({ id }) => id),
      output,
    )
  else await print(cli, jobs, output)
  cli.terminal.say(`berth: ${countJobs(jobs.length)}; "berth ls --label sweep=${name}" lists them`)
}

/** Many jobs of a sweep are refused for the same reason, which is reported once. */
function reportRefusals(cli: Cli, results: readonly Result[]): void {
  const counts = new Map<string, number>()
  for (const result of results) {
    if (result.__typename === 'SubmitJobSuccess') continue
    const { message, exitCode } = stopForProblem(result as Parameters<typeof stopForProblem>[0])
    if (counts.size === 0) cli.exitWith(exitCode)
    counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  for (const [message, count] of counts)
    cli.terminal.say(`berth: ${count} of ${countJobs(results.length)} refused: ${message}`)
}
