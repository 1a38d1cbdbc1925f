import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { requireField } from '../../client/connection/failure.ts'
import {
  ChangedJobFragmentDoc,
  type JobPreviewRowFragment,
  type JobRowFragment,
  JobRowFragmentDoc,
  type JobSpecInput,
  type PreviewJobInput,
} from '../../client/generated/graphql.ts'
import type { PreviewJobAnswer, RetryJobAnswer, SubmitJobAnswer } from '../../client/jobs/client.ts'
import { type Cli, expectSuccess } from '../frame/cli.ts'
import { getJobExitCode, usageError } from '../frame/exit.ts'
import { readExecutorChoice } from '../reading/choices.ts'
import type { RowShape } from '../reading/fields.ts'
import { type HereOptions, uploadCurrentFolder } from '../reading/here.ts'
import { rememberJob } from '../reading/last-job.ts'
import { readAmount, readCount, readWhole } from '../reading/numbers.ts'
import { buildSpec, type SpecFlags } from '../reading/spec.ts'
import { type Parameter, readParameter } from '../reading/sweep.ts'
import { readSeconds } from '../reading/times.ts'
import { decodeUtf8 } from '../reading/yaml.ts'
import { addOutputOption, isTable, type OutputOptions, printObject } from '../showing/output.ts'
import {
  formatMemory,
  formatMoney,
  formatScope,
  formatSheet,
  formatStart,
  formatStructured,
} from '../showing/render.ts'
import { detachOnInterrupt, followLog, reportWaiting, waitUntilFinal } from '../showing/watch.ts'
import { submitSweep } from './submit-sweep.ts'

export interface SubmissionOptions extends OutputOptions {
  idempotencyKey?: string
  keyTtl?: number
  slot?: string
  follow?: boolean
  /** false: the option --no-wait was given. */
  wait?: boolean
  dryRun?: boolean
}

interface SubmitOptions extends SpecFlags, SubmissionOptions, HereOptions {
  file?: string
  printSpec?: boolean
  requiresApproval?: boolean
  sweep?: Parameter[]
}

export function registerSubmitCommand(program: Command, cli: Cli): void {
  const submit = program.command('submit').argument('[command...]', 'the command and its arguments, after "--"')
  addSubmissionFlags(addSpecFlags(submit), (command) => command.opts<SubmitOptions>().sweep !== undefined)
    .description('submit a job; prints its id')
    .option('-f, --file <job.yaml>', 'the spec in YAML, "-" for stdin; flags override it')
    .option('--here', 'run the job in a copy of the current directory, as it is now')
    .option('--include <glob>', 'with --here: take files that git or .berthignore ignores; may be repeated', append)
    .option('--exclude <glob>', 'with --here: leave files out; may be repeated', append)
    .option('--print-spec', 'print the spec without submitting it')
    .option('--sweep <name=values>', 'a job for each value: lr=0.1,0.01 or seed=1..4; may be repeated', readParameter)
    .option('--requires-approval', 'require an approval before the job is queued')
    .passThroughOptions()
    .action(async (command: string[], options: SubmitOptions) => {
      const spec = buildSpec({
        ...cli,
        command,
        flags: options,
        yaml: await readSpecFile(cli, options.file),
        warn: (text) => cli.terminal.say(`berth: ${text}`),
      })
      if (options.printSpec) return cli.terminal.write(formatStructured(spec, 'yaml'))
      const named = (['command', 'executable', 'handler', 'image'] as const).some((field) => spec[field] != null)
      if (!named && options.file === undefined)
        throw usageError('the command is missing', 'write "berth submit -- command" or "berth submit -f job.yaml"')
      spec.snapshot ??= await uploadCurrentFolder(cli, options)
      const { sweep } = options
      if (sweep) return submitSweep(cli, spec, { ...options, sweep })
      await send(cli, spec, options)
    })
}

/** Adds the flags of a submission. `isForMany`: true if the command prints a row for each of several jobs. */
export function addSubmissionFlags(command: Command, isForMany: (command: Command) => boolean): Command {
  const printed = (called: Command): RowShape | undefined => {
    if (called.opts<SubmissionOptions>().dryRun) return undefined
    return isForMany(called) ? [ChangedJobFragmentDoc] : ['idempotentHit', 'warnings', { job: JobRowFragmentDoc }]
  }
  return addOutputOption(command, printed)
    .option('--idempotency-key <key>', 'submitting the same key again returns the same job')
    .option('--key-ttl <time>', 'lifetime of the key; default 1d', readSeconds)
    .option('--slot <id>', 'consume a reserved slot')
    .option('--follow', 'follow the output and exit with the exit code of the job; Ctrl-C detaches, the job continues')
    .option('--wait', 'wait for the end of the job and exit with its exit code')
    .option('--dry-run', 'predict whether, where and when the job would start, without submitting it')
    .option('--no-wait', 'refuse the job unless it can start now')
}

export const toSubmissionInput = ({ idempotencyKey, keyTtl, slot, wait }: SubmissionOptions) => ({
  idempotencyKey,
  idempotencyTtlSeconds: keyTtl,
  slotReservationId: slot,
  noWait: wait === false || undefined,
})

/** Returns the retries of a submission: fewer without an idempotency key, when a person waits for the response. */
export const chooseRetries = ({ idempotencyKey }: SubmissionOptions) => ({
  attempts: idempotencyKey === undefined ? 3 : 5,
})

export function addSpecFlags(submit: Command): Command {
  return submit
    .option('--name <text>', 'name of the job')
    .option('--tag <tag>', 'a tag; may be repeated', append)
    .option('--label <key=value>', 'a label; may be repeated', append)
    .option(
      '--env <NAME[=value]>',
      'environment variable of the job; without a value: copied from your environment; may be repeated',
      append,
    )
    .option('--secret <name>', 'secret to put into the environment of the job; may be repeated', append)
    .option('--no-inherit-env', 'do not inherit the environment variables of the server')
    .option('--workdir <dir>', 'working directory (default: the current directory; in a container: that of the image)')
    .option('--out <glob>', 'keep these files as artifacts when a run ends; may be repeated', append)
    .option('--image <name>', 'run in a container of this image')
    .option('--data <source:path>', 'mount this folder at this path of the container; may be repeated', append)
    .addOption(
      new Option('--pull <when>', 'pull the image at every start, or only if it is missing').choices([
        'MISSING',
        'ALWAYS',
      ]),
    )
    .addOption(
      new Option('--network-isolation <traffic>', 'block this traffic of the container').choices(['IN', 'OUT', 'ALL']),
    )
    .option('--cpu <cores>', 'processor cores, such as 4 or 0.5', readAmount)
    .option('--mem <GiB>', 'memory in GiB, such as 4 or 0.5', readAmount)
    .option('--gpu <count>', 'number of GPUs', readWhole)
    .option('--gpu-model <text>', 'GPU model contains this text; !text excludes; may be repeated', append)
    .option('--gpu-ids <ids>', 'exactly these GPUs of the machine, e.g. 0,1', readIds)
    .option('--any-gpu', 'use other GPUs if those of --gpu-ids are in use')
    .option('--queue <name>', 'the queue to submit to')
    .option('--executor <name>', 'executor that runs the job, such as container', readExecutorChoice)
    .option('--project <name>', 'project of the job')
    .option('--account <account>', 'account to charge')
    .option('--max-run-time <time>', 'maximum duration of a run: 90s, 10m, 2h, 1d', readSeconds)
    .option('--duration <time>', 'expected duration of a run', readSeconds)
    .option('--not-before <time>', 'earliest start, such as 2030-01-31T12:00:00Z')
    .option('--after <job>', 'start after this job has succeeded; may be repeated', append)
    .option('--restartable', 'run the job again after preemption or loss of its node')
    .option('--preemptable', 'let other jobs preempt this job')
    .option('--interactive', 'start before other jobs; one interactive job per user at a time')
    .option('--bid <amount>', 'jobs of an account with a higher bid start first', readWhole)
    .option('--reservation <id>', 'run on the nodes of this capacity reservation')
    .option('--attempts <count>', 'maximum number of runs if the command fails', readCount)
    .option('--set <field=value>', 'any field of the spec, e.g. resources.infiniband=true; may be repeated', append)
}

async function readSpecFile(cli: Cli, path: string | undefined): Promise<string | null> {
  if (path === undefined) return null
  if (path === '-') return cli.readStdin()
  const absolute = resolve(cli.cwd, path)
  const bytes = await readFile(absolute).catch(({ message }: Error) => {
    throw usageError(`cannot read the job file: ${message.replace(absolute, () => path)}`, 'check -f')
  })
  return decodeUtf8(bytes, 'the job file')
}

async function send(cli: Cli, spec: JobSpecInput, options: SubmitOptions): Promise<void> {
  const { requiresApproval } = options
  const input = { spec, defaultWorkdir: cli.cwd, ...toSubmissionInput(options), requiresApproval }
  if (options.dryRun) return printPreview(cli, { submit: input }, options)
  const answer = await cli.connection().submit(input, chooseRetries(options))
  const namesMemory = (spec.resources?.memoryGib ?? spec.resources?.memoryBytes) != null
  if (answer.__typename === 'SubmitJobSuccess' && !namesMemory)
    cli.terminal.say(
      `berth: memory: ${formatMemory(requireField(answer.job.spec).resources.memoryBytes)}; --mem sets another amount`,
    )
  await printSubmission(cli, expectSuccess(answer, 'SubmitJobSuccess'), options)
}

/** Prints the predicted outcome of a submission or a retry. */
export async function printPreview(cli: Cli, input: PreviewJobInput, options: SubmissionOptions): Promise<void> {
  const answer = await cli.connection().preview(input, chooseRetries(options))
  await writePreview(cli, expectSuccess(answer, 'JobPreview'), options.output)
}

async function writePreview(
  { terminal }: Cli,
  { __typename: _, warnings, ...shown }: Extract<PreviewJobAnswer, { __typename: 'JobPreview' }>,
  output: OutputOptions['output'],
) {
  for (const warning of warnings) terminal.say(`berth: ${warning}`)
  const entries = [
    ['would be', shown.wouldBe],
    ['on', shown.nodeNames.join(', ')],
    ['gpus', shown.gpuIds.join(', ')],
    ['because', shown.reasons.map(({ message }) => message).join('; ')],
    ['missing', shown.fit?.missing.join('; ')],
    ['position', shown.position?.toString()],
    ['may start', formatStart(shown.estimatedStart)],
    ['approval', shown.approval?.reason],
    ['costs at most', shown.cost && formatMoney(shown.cost)],
    ['quotas', shown.quotas.map(quotaText).join('; ')],
    ['preempts', preemptsText(shown)],
    ['job of the key', shown.idempotentJob?.id],
  ] as const
  await printObject({ terminal }, { ...shown, warnings }, output, () => formatSheet(terminal, entries))
}

const quotaText = ({ type, scope, limit, usedAfter }: JobPreviewRowFragment['quotas'][number]) =>
  `${type} ${usedAfter ?? 'without bound'} of ${limit} (${formatScope(scope)})`

function preemptsText({
  preempts,
  preemptedCount,
}: Pick<JobPreviewRowFragment, 'preempts' | 'preemptedCount'>): string {
  const hidden = preemptedCount - preempts.length
  return [...preempts.map(({ id }) => id), ...(hidden > 0 ? [`${hidden} others`] : [])].join(', ')
}

type Taken =
  | Extract<SubmitJobAnswer, { __typename: 'SubmitJobSuccess' }>
  | Extract<RetryJobAnswer, { __typename: 'RetryJobSuccess' }>

/**
 * Prints the id of a submitted job to stdout, and everything else to stderr. With --follow the output of the job goes to
 * stdout, and so the id to stderr. With --wait, the formats for programs print the job as it ended.
 */
export async function printSubmission(cli: Cli, taken: Taken, options: SubmissionOptions): Promise<void> {
  const { job, warnings, idempotentHit } = taken
  const { output, follow, wait } = options
  if (idempotentHit && options.idempotencyKey !== undefined)
    cli.terminal.say(`berth: the key was used before, for job ${job.id}`)
  for (const warning of warnings) cli.terminal.say(`berth: ${warning}`)
  if (job.state === 'BLOCKED' && job.stateInfo) cli.terminal.say(`berth: ${job.id} is BLOCKED: ${job.stateInfo}`)
  await rememberJob(cli.env, cli.connection().url, job.id)
  const isForPrograms = !isTable(output) && output.format !== 'ids'
  if (follow || (wait && isForPrograms)) cli.terminal.say(job.id)
  else if (!isForPrograms) await cli.terminal.write(`${job.id}\n`)
  const ended = follow || wait ? await watch(cli, job.id, options) : null
  if (isForPrograms) await printObject(cli, { job: { ...job, ...ended }, idempotentHit, warnings }, output, () => '')
}

async function watch(cli: Cli, id: string, { follow }: SubmissionOptions): Promise<JobRowFragment> {
  detachOnInterrupt(cli, id)
  reportWaiting(cli, id)
  if (follow) await followLog(cli, id)
  const job = await waitUntilFinal(cli, id)
  if (job.state !== 'SUCCEEDED') cli.terminal.say(`${id} ${job.state}${job.stateInfo ? `: ${job.stateInfo}` : ''}`)
  cli.exitWith(getJobExitCode(job))
  return job
}

const append = (item: string, before: string[] = []) => [...before, item]

function readIds(text: string): number[] {
  if (!/^\d{1,6}(,\d{1,6})*$/.test(text)) throw new InvalidArgumentError('Write device numbers: 0,1.')
  return text.split(',').map(Number)
}
