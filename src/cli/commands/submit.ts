import { readFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { stringify } from 'yaml'
import {
  type JobRowFragment,
  type JobSpecInput,
  type RetryJobMutation,
  SubmitJobDocument,
  type SubmitJobMutation,
} from '../../client/generated/graphql.ts'
import { type Cli, type OutputOptions, successOf, withOutput } from '../cli.ts'
import { tellDryRun } from '../dry-run.ts'
import { exitCodeOfJob, usage } from '../exit.ts'
import { structured } from '../render.ts'
import { buildSpec, type SpecFlags } from '../spec.ts'
import { detachOnInterrupt, followLog, untilFinal } from '../watch.ts'

export interface SubmissionOptions extends OutputOptions {
  idempotencyKey?: string
  keyTtl?: number
  slot?: string
  follow?: boolean
  /** false: --no-wait. */
  wait?: boolean
  dryRun?: boolean
}

interface SubmitOptions extends SpecFlags, SubmissionOptions {
  file?: string
  printSpec?: boolean
  requiresApproval?: boolean
}

export function addSubmit(program: Command, cli: Cli): void {
  const submit = program.command('submit').argument('[command...]', 'the command and its arguments, after "--"')
  addSubmissionFlags(addSpecFlags(submit))
    .description('submit a job; prints its id')
    .option('-f, --file <job.yaml>', 'the spec in YAML, "-" for stdin; flags win over it')
    .option('--print-spec', 'print the spec that -f reads, and submit nothing')
    .option('--requires-approval', 'a person must say yes before it waits for its turn')
    .passThroughOptions()
    .action(async (command: string[], options: SubmitOptions) => {
      const spec = buildSpec({ ...cli, command, flags: options, yaml: await readSpecFile(cli, options.file) })
      if (options.printSpec) return cli.terminal.write(stringify(spec))
      if (command.length === 0 && options.file === undefined)
        throw usage('nothing to run', 'write "berth submit -- command", or -f job.yaml')
      await send(cli, spec, options)
    })
}

/** What a submission and a retry have beside the spec. */
export function addSubmissionFlags(command: Command): Command {
  return withOutput(command)
    .option('--idempotency-key <key>', 'your name for it: the same key again answers the same job')
    .option('--key-ttl <time>', 'how long the key is kept; default 1d', readSeconds)
    .option('--slot <id>', 'use a slot that was reserved')
    .option('--follow', 'print the output as it comes and end as the job ends; Ctrl-C leaves, the job goes on')
    .option('--wait', 'wait for the end and exit with the exit code of the job')
    .option('--dry-run', 'only say whether, where and when it would start')
    .option('--no-wait', 'start it now, or refuse it and store nothing')
}

export const submissionInput = ({ idempotencyKey, keyTtl, slot, dryRun, wait }: SubmissionOptions) => ({
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  ...(keyTtl === undefined ? {} : { idempotencyTtlSeconds: keyTtl }),
  ...(slot === undefined ? {} : { slotReservationId: slot }),
  ...(dryRun && { dryRun }),
  ...(wait === false && { noWait: true }),
})

/** With a key it may be sent again without making a second job. */
export const attemptsOf = ({ idempotencyKey }: SubmissionOptions) => ({
  attempts: idempotencyKey === undefined ? 1 : 5,
})

export function addSpecFlags(submit: Command): Command {
  return submit
    .option('--name <text>', 'a name for people')
    .option('--tag <tag>', 'a tag; may be repeated', append)
    .option('--label <key=value>', 'a label; may be repeated', append)
    .option('--env <NAME[=value]>', 'a variable of the job, or one of yours by its name; may be repeated', append)
    .option('--no-inherit-env', 'give it no variables of the server')
    .option('--workdir <dir>', 'where it runs; default: here')
    .option('--cpu <cores>', 'cores, may be a fraction', readAmount)
    .option('--mem <GiB>', 'memory, may be a fraction', readAmount)
    .option('--gpu <count>', 'number of GPUs', readAmount)
    .option('--gpu-model <text>', 'what the GPU model contains; !text: what it does not; may be repeated', append)
    .option('--gpu-ids <ids>', 'these GPUs of the machine, e.g. 0,1', readIds)
    .option('--any-gpu', 'when the GPUs of --gpu-ids are taken, others will do')
    .option('--queue <name>', 'the queue to submit to')
    .option('--executor <name>', 'what runs it')
    .option('--project <name>', 'the project it is for')
    .option('--account <account>', 'the account it counts for')
    .option('--max-run-time <time>', 'stop it after this long: 90s, 10m, 2h, 1d', readSeconds)
    .option('--duration <time>', 'how long it is expected to take', readSeconds)
    .option('--not-before <time>', 'do not start it before this moment (RFC 3339)')
    .option('--after <job>', 'start it when this job has succeeded; may be repeated', append)
    .option('--restartable', 'run it again when it was preempted or its machine was lost')
    .option('--preemptable', 'it may be stopped for a job that goes first')
    .option('--interactive', 'somebody sits in front of it: it goes first, one at a time for each person')
    .option('--bid <amount>', 'among the jobs of an account the highest bid goes first', readAmount)
    .option('--reservation <id>', 'run it on the nodes of this capacity reservation')
    .option('--attempts <count>', 'run it up to this often while it fails', readAmount)
    .option('--set <field=value>', 'any field of the spec, e.g. resources.infiniband=true; may be repeated', append)
}

async function readSpecFile(cli: Cli, path: string | undefined): Promise<string | null> {
  if (path === undefined) return null
  if (path === '-') return cli.readStdin()
  return readFile(path, 'utf8').catch((error: Error) => {
    throw usage(`the job file cannot be read: ${error.message}`, 'check -f')
  })
}

async function send(cli: Cli, spec: JobSpecInput, options: SubmitOptions): Promise<void> {
  const { requiresApproval = false } = options
  const input = { spec, ...submissionInput(options), ...(requiresApproval && { requiresApproval }) }
  const { submitJob } = await cli.connection().request(SubmitJobDocument, { input }, attemptsOf(options))
  await finish(cli, submitJob, options)
}

type SubmitAnswer = SubmitJobMutation['submitJob'] | RetryJobMutation['retryJob']

/** Says what became of it, and stays with the job if that was asked for. */
export async function finish(cli: Cli, answer: SubmitAnswer, options: SubmissionOptions): Promise<void> {
  if (answer.__typename === 'DryRun') return tellDryRun(cli, answer, options.output)
  await watch(cli, await tell(cli, successOf(answer, 'SubmitJobSuccess'), options), options)
}

interface Taken {
  job: JobRowFragment
  idempotentHit: boolean
  warnings: readonly string[]
}

/** The id on stdout, what is to be known beside it on stderr. */
async function tell(cli: Cli, taken: Taken, options: SubmissionOptions): Promise<JobRowFragment> {
  const { job, warnings, idempotentHit } = taken
  if (idempotentHit) cli.terminal.say(`berth: this key was used before; ${job.id} is its job`)
  for (const warning of warnings) cli.terminal.say(`berth: ${warning}`)
  if (options.output !== 'table') await cli.terminal.write(structured({ job, idempotentHit, warnings }, options.output))
  else if (options.follow) cli.terminal.say(job.id)
  else await cli.terminal.write(`${job.id}\n`)
  return job
}

/** With --follow stdout is the job's output, so the id goes to stderr. */
async function watch(cli: Cli, { id }: JobRowFragment, { follow, wait }: SubmissionOptions): Promise<void> {
  if (!follow && !wait) return
  detachOnInterrupt(cli, id)
  if (follow) await followLog(cli, id)
  const job = await untilFinal(cli, id)
  if (job.state !== 'SUCCEEDED') cli.terminal.say(`${id} ${job.state}${job.stateInfo ? `: ${job.stateInfo}` : ''}`)
  cli.exitWith(exitCodeOfJob(job))
}

const append = (item: string, before: string[] = []) => [...before, item]

function readAmount(text: string): number {
  const amount = Number(text)
  if (text.trim() === '' || !Number.isFinite(amount)) throw new InvalidArgumentError('It must be a number.')
  return amount
}

function readIds(text: string): number[] {
  if (!/^\d{1,6}(,\d{1,6})*$/.test(text)) throw new InvalidArgumentError('Write device numbers: 0,1.')
  return text.split(',').map(Number)
}

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

function readSeconds(text: string): number {
  const [, amount, unit = 's'] = text.match(/^(\d+(?:\.\d+)?)([smhd])?$/) ?? []
  if (amount === undefined) throw new InvalidArgumentError('Write 90s, 10m, 2h or 1d.')
  return Number(amount) * unitSeconds[unit as keyof typeof unitSeconds]
}
