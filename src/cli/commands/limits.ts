import { Argument, type Command, InvalidArgumentError } from 'commander'
import {
  LimitsDocument,
  type LimitsRowFragment,
  LimitsRowFragmentDoc,
  SetScopeLimitDocument,
  type SetScopeLimitInput,
  UpdateLimitsDocument,
  type UpdateLimitsInput,
} from '../../client/generated/graphql.ts'
import { toScopeInput } from '../../client/jobs/scope-input.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { poolNotFound } from '../reading/nodes.ts'
import { readSeconds } from '../reading/times.ts'
import { addOutputOption, type Output, type OutputOptions, printObject } from '../showing/output.ts'
import { type Column, formatDuration, formatScope, formatSheet, table } from '../showing/render.ts'

const kinds = ['queue', 'project', 'team', 'user'] as const

type Scope = LimitsRowFragment['scopes'][number]

export function registerLimitsCommand(program: Command, cli: Cli): void {
  const limits = program.command('limits').description('show and change limits on running jobs')
  withPool(limits.command('show', { isDefault: true }))
    .description('show the limits of a pool and their usage')
    .action(async ({ output, pool }: PoolOptions) => {
      const found = await cli.connection().request(LimitsDocument, { pool: pool ?? null })
      if (!found.pool) throw poolNotFound(pool)
      await print(cli, found.pool.limits, output)
    })
  withPool(limits.command('set'))
    .description('change limits of a pool; running jobs continue')
    .option('--max-concurrent <n>', 'running jobs of the pool; 0 pauses it', readLimit)
    .option('--user-max-concurrent <n>', 'running jobs of each user', readLimit)
    .option('--team-max-concurrent <n>', 'running jobs of each team, enforced with --enable-fair-share', readLimit)
    .option('--enable-fair-share <yes|no>', 'enforce the limit of teams', readSwitch)
    .option('--local-job-max-concurrent <n>', 'running jobs with GPUs', readLimit)
    .option('--local-gpu-max-concurrent <n>', 'GPUs in use', readLimit)
    .option('--user-max-active <n>', 'jobs of a user that are not final', readLimit)
    .option('--user-max-blocked <n>', 'jobs of a user that wait for an approval', readLimit)
    .option(
      '--starvation-threshold <time>',
      'each such wait raises the priority of a job by 10: 30m, 2h, or "never"',
      (given) => (given === 'never' ? null : readSeconds(given)),
    )
    .addHelpText('after', '\n<n> is an integer from 0, or "unlimited".')
    .action(({ output, starvationThreshold, ...said }: SetOptions) =>
      update(
        cli,
        starvationThreshold === undefined ? said : { ...said, starvationThresholdSeconds: starvationThreshold },
        output,
      ),
    )
  withPool(limits.command('scope'))
    .description('set, change or remove a limit of a queue, a project, a team or a user; omitted numbers stay')
    .addArgument(new Argument('<kind>', 'what the limit applies to').choices(kinds))
    .argument('<name>')
    .option('--jobs <n>', 'maximum number of running jobs', readLimit)
    .option('--gpus <n>', 'maximum number of GPUs in use', readLimit)
    .option('--gpu-model <text>', 'count only GPUs whose model contains this text')
    .option('--remove', 'remove the limit')
    .action((kind: (typeof kinds)[number], name: string, options: ScopeOptions) =>
      setScope(cli, toScopeInput(kind.toUpperCase() as Uppercase<typeof kind>, name), options),
    )
}

interface PoolOptions extends OutputOptions {
  pool?: string
}

interface SetOptions extends OutputOptions, UpdateLimitsInput {
  starvationThreshold?: number | null
}

interface ScopeOptions extends PoolOptions {
  jobs?: number
  gpus?: number
  gpuModel?: string
  remove?: boolean
}

const withPool = (command: Command) =>
  addOutputOption(command, [LimitsRowFragmentDoc]).option('--pool <name>', 'pool (default: pool of the default queue)')

async function update(cli: Cli, said: UpdateLimitsInput, output: Output): Promise<void> {
  const { pool: _, ...changes } = said
  if (Object.keys(changes).length === 0) throw usageError('nothing to change', 'see "berth limits set --help"')
  const input = Object.fromEntries(
    Object.entries(said).map(([name, value]) => [name, typeof value === 'number' ? sent(value) : value]),
  ) as UpdateLimitsInput
  await print(cli, (await mutate(cli, UpdateLimitsDocument, input, { attempts: 4 })).limits, output)
}

async function setScope(
  cli: Cli,
  scope: SetScopeLimitInput['scope'],
  { output, jobs, gpus, remove = false, ...rest }: ScopeOptions,
): Promise<void> {
  const isGiven = jobs !== undefined || gpus !== undefined
  if (isGiven && remove) throw usageError('--remove excludes --jobs and --gpus', 'pass one of them')
  if (!isGiven && !remove) throw usageError('the limit is missing', 'pass --jobs, --gpus or --remove')
  const removed = remove ? { maxJobs: null, maxGpus: null } : {}
  const numbers = {
    ...(jobs !== undefined && { maxJobs: sent(jobs) }),
    ...(gpus !== undefined && { maxGpus: sent(gpus) }),
  }
  const input = { scope, ...rest, ...removed, ...numbers }
  await print(cli, (await mutate(cli, SetScopeLimitDocument, input, { attempts: 4 })).limits, output)
}

async function print(cli: Cli, limits: LimitsRowFragment, output: Output): Promise<void> {
  const { scopes } = limits
  const rows = () => (scopes.length > 0 ? `\n${table(cli.terminal, scopes, columns)}` : '')
  await printObject(cli, limits, output, () => formatSheet(cli.terminal, entriesOf(limits)) + rows())
}

const shown = (limit: number | null) => (limit === null ? 'unlimited' : String(limit))

const entriesOf = (limits: LimitsRowFragment): [string, string][] => [
  ['pool', limits.pool.name + (limits.maxConcurrent === 0 ? ' (paused)' : '')],
  ['running jobs', shown(limits.maxConcurrent)],
  ['of each user', shown(limits.userMaxConcurrent)],
  ['of each team', limits.enableFairShare ? shown(limits.teamMaxConcurrent) : 'unlimited (enableFairShare is off)'],
  ['with GPUs', shown(limits.localJobMaxConcurrent)],
  ['GPUs in use', shown(limits.localGpuMaxConcurrent)],
  ['active jobs of a user', shown(limits.userMaxActive)],
  ['blocked jobs of a user', shown(limits.userMaxBlocked)],
  [
    'starvation threshold',
    limits.starvationThresholdSeconds === null ? 'never' : formatDuration(limits.starvationThresholdSeconds),
  ],
]

const columns: readonly Column<Scope>[] = [
  { title: 'SCOPE', cell: ({ scope }) => formatScope(scope) },
  { title: 'GPU MODEL', cell: ({ gpuModel }) => gpuModel ?? '' },
  { title: 'JOBS', cell: ({ jobsInUse, maxJobs }) => `${jobsInUse} of ${shown(maxJobs)}` },
  { title: 'GPUS', cell: ({ gpusInUse, maxGpus }) => `${gpusInUse} of ${shown(maxGpus)}` },
]

/** Reads a limit; "unlimited" is Infinity until it is sent, because null means "no value" to the option parser. */
function readLimit(text: string): number {
  if (text === 'unlimited') return Number.POSITIVE_INFINITY
  const limit = Number(text)
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Expected an integer from 0, or "unlimited".')
  return limit
}

const sent = (limit: number | undefined) => (limit === undefined || limit === Number.POSITIVE_INFINITY ? null : limit)

function readSwitch(text: string): boolean {
  if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('Expected yes or no.')
  return text === 'yes'
}
