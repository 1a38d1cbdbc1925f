import { type JobSpecInput, SubmitJobsDocument, type SubmitJobsMutation } from '../../client/generated/graphql.ts'
import { createIdempotencyKey } from '../../client/jobs/idempotency-key.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { createStop, usageError } from '../frame/exit.ts'
import { rememberJob } from '../reading/last-job.ts'
import { expandSweep, type Parameter } from '../reading/sweep.ts'
import { createRowPrinter, isTable, type OutputOptions, printIds } from '../showing/output.ts'
import { changedJobColumns, countJobs } from '../showing/render.ts'
import { reportEnds, waitForMany } from '../showing/wait-many.ts'

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

const print = createRowPrinter(changedJobColumns)

/** Submits the jobs of a sweep. Each has an idempotency key, so retries are safe. */
export async function submitSweep(cli: Cli, spec: JobSpecInput, options: SweepOptions): Promise<void> {
  const { sweep, follow, wait, slot, dryRun, output } = options
  if (slot || wait === false) throw usageError('--slot and --no-wait are for one job')
  if (follow)
    throw usageError('--follow is for one job', 'pass --wait, and "berth logs -f --label sweep=NAME" elsewhere')
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
  const { results } = await mutate(cli, SubmitJobsDocument, { submissions }, { attempts: 5 })
  const jobs = results.flatMap((result) => (result.__typename === 'SubmitJobSuccess' ? [result.job] : []))
  const newest = jobs.at(-1)
  if (newest) await rememberJob(cli.env, cli.connection().url, newest.id)
  reportRefusals(cli, results)
  const ids = jobs.map(({ id }) => id)
  if (isTable(output) || output.format === 'ids') await printIds(cli, ids, output)
  else if (!wait) await print(cli, jobs, output)
  cli.terminal.say(`berth: ${countJobs(jobs.length)}; "berth ls --label sweep=${name}" lists them`)
  if (wait && ids.length > 0) await waitForSweep(cli, ids, { name, output, isRefused: jobs.length < results.length })
}

interface Sweep extends OutputOptions {
  name: string
  isRefused: boolean
}

/** Waits for the jobs of a sweep. If a job was refused, the exit code of that refusal stays. */
async function waitForSweep(cli: Cli, ids: readonly string[], { name, output, isRefused }: Sweep): Promise<void> {
  cli.leaveOnInterrupt(`detached; the jobs continue: "berth wait --label sweep=${name}" waits for them`)
  const ended = await waitForMany(cli, ids, { isDone: ({ stateCategory }) => stateCategory === 'FINAL' })
  if (!isTable(output) && output.format !== 'ids') await print(cli, ended, output)
  reportEnds(cli, ended, isRefused)
}

/** Reports why jobs were refused, each reason once with the number of jobs. */
function reportRefusals(cli: Cli, results: readonly Result[]): void {
  const counts = new Map<string, number>()
  for (const result of results) {
    if (result.__typename === 'SubmitJobSuccess') continue
    const { message, exitCode } = createStop(result as Parameters<typeof createStop>[0])
    if (counts.size === 0) cli.exitWith(exitCode)
    counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  for (const [message, count] of counts)
    cli.terminal.say(`berth: ${count} of ${countJobs(results.length)} refused: ${message}`)
}
