import type { Command } from 'commander'
import type { JobQuery, JobSpecInput } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { addOutputOption, type Output, type OutputOptions, printObject } from '../showing/output.ts'
import {
  type Column,
  countJobs,
  formatDuration,
  formatSheet,
  formatStart,
  formatState,
  formatTime,
  table,
} from '../showing/render.ts'
import { readSpec, toSpecInput } from '../showing/spec-text.ts'
import { findJob } from '../showing/watch.ts'
import { formatHold, formatPosition } from './info.ts'

type Job = NonNullable<JobQuery['job']>

export function registerWhyCommand(program: Command, cli: Cli): void {
  addOutputOption(program.command('why').argument('<job>'))
    .summary('explain why a job waits or how it ended')
    .description('explain why a job waits and when it may start, or how it ended')
    .option('--what-if', 'also predict the start of the job with less resources or a shorter run time')
    .action(async (id: string, { output, whatIf }: OutputOptions & { whatIf?: true }) => {
      const job = await findJob(cli, id)
      if (whatIf && job.scheduling) return printWhatIf(cli, job, output)
      const { state, stateReason, stateInfo, exitCode, scheduling } = job
      const explained = { id, state, stateReason, stateInfo, exitCode, scheduling }
      await printObject(cli, explained, output, () => formatSheet(cli.terminal, explain(job)))
    })
}

function explain(job: Job): [string, string | null | undefined][] {
  const { scheduling, currentRun } = job
  const closed = scheduling?.gates.filter(({ open }) => !open) ?? []
  return [
    ['state', formatState(job)],
    ['because', scheduling?.reasons.map(reasonText).join('; ') || job.stateInfo],
    ['waits for', closed.map(gateText).join('; ')],
    ['missing', scheduling?.fit.missing.join('; ')],
    ['position', formatPosition(job)],
    ['ahead', scheduling && countJobs(scheduling.jobsAhead)],
    ['held for it', formatHold(job)],
    ['may start', formatStart(scheduling?.estimatedStart)],
    ['considered', formatTime(scheduling?.lastConsideredAt ?? null)],
    ['ran on', scheduling ? null : currentRun.nodeNames.join(', ')],
    ['ended', formatTime(job.finishedAt)],
    ['next', nextStep(job)],
  ]
}

const reasonText = ({ message, used, limit }: NonNullable<Job['scheduling']>['reasons'][number]) =>
  limit === null || message.includes(String(limit)) ? message : `${message} (${used ?? '?'} of ${limit})`

const gateText = ({ code, opensAt, message, job }: NonNullable<Job['scheduling']>['gates'][number]) =>
  [code, job?.id, message, opensAt && `until ${formatTime(opensAt)}`].filter(Boolean).join(' ')

function nextStep({ id, state, stateCategory, stateReason }: Job): string | null {
  if (state === 'BLOCKED') return `"berth approve ${id}", with the permission`
  if (stateCategory === 'WAITING') return `"berth why ${id} --what-if"`
  // The field `because` already says how much memory to request.
  if (stateReason === 'OOM_KILLED') return `"berth logs --errors ${id}"`
  return state === 'SUCCEEDED' || stateCategory === 'ACTIVE' ? null : `"berth logs --errors ${id}", "berth retry ${id}"`
}

interface Prediction {
  change: string
  wouldBe: string
  mayStart: string | null
}

const columns: readonly Column<Prediction>[] = [
  { title: 'WITH', cell: ({ change }) => change },
  { title: 'WOULD BE', cell: ({ wouldBe }) => wouldBe },
  { title: 'MAY START', cell: ({ mayStart }) => mayStart ?? '-' },
]

async function printWhatIf(cli: Cli, { id }: Job, output: Output): Promise<void> {
  const spec = toSpecInput(await readSpec(cli, id))
  const predictions: Prediction[] = []
  for (const [change, changed] of listChanges(spec)) {
    const answer = await cli.connection().preview({ submit: { spec: changed } })
    const isPreview = answer.__typename === 'JobPreview'
    predictions.push({
      change,
      wouldBe: isPreview ? answer.wouldBe : answer.message,
      mayStart: isPreview ? formatStart(answer.estimatedStart) : null,
    })
  }
  await printObject(cli, { id, predictions }, output, () => table(cli.terminal, predictions, columns))
}

function listChanges(spec: JobSpecInput): [string, JobSpecInput][] {
  const { resources, maxRunTimeSeconds } = spec
  const cpu = resources?.cpu ?? 0
  const memoryBytes = resources?.memoryBytes ?? 0
  const gpu = resources?.gpu ?? 0
  const limit = maxRunTimeSeconds ?? 0
  const half = {
    cpu: cpu / 2,
    memoryBytes: Math.floor(memoryBytes / 2),
    gpu: Math.floor(gpu / 2),
    seconds: Math.max(1, limit / 2),
  }
  const changes: [boolean, string, JobSpecInput][] = [
    [true, 'no change', spec],
    [gpu > 1, `${half.gpu} GPUs`, { ...spec, resources: { ...resources, gpu: half.gpu } }],
    [cpu > 1, `${half.cpu} cores`, { ...spec, resources: { ...resources, cpu: half.cpu } }],
    [memoryBytes > 2 ** 30, 'half the memory', { ...spec, resources: { ...resources, memoryBytes: half.memoryBytes } }],
    [limit > 60, `at most ${formatDuration(half.seconds)}`, { ...spec, maxRunTimeSeconds: half.seconds }],
    [limit === 0, 'at most 1 h', { ...spec, maxRunTimeSeconds: 3_600 }],
  ]
  return changes.filter(([applies]) => applies).map(([, name, changed]) => [name, changed])
}
