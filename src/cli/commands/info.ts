import type { Command } from 'commander'
import { requireField } from '../../client/connection/failure.ts'
import type { JobQuery } from '../../client/generated/graphql.ts'
import { quoteShell } from '../../client/text/shell.ts'
import type { Cli } from '../frame/cli.ts'
import { addWatchOption, pollRows, watchRows } from '../showing/live.ts'
import { addOutputOption, isTable, type OutputOptions, printObject } from '../showing/output.ts'
import {
  countJobs,
  formatDuration,
  formatLabels,
  formatMemory,
  formatMoney,
  formatSheet,
  formatStart,
  formatState,
  formatTime,
} from '../showing/render.ts'
import { findJob } from '../showing/watch.ts'

type Job = NonNullable<JobQuery['job']>

export function registerInfoCommand(program: Command, cli: Cli): void {
  addWatchOption(addOutputOption(program.command('info').argument('<job>')))
    .description('show a job; with -w until it ends')
    .action(async (id: string, { output, watch }: OutputOptions & { watch?: true }) => {
      const view = ([job]: readonly Job[]) => (job ? formatSheet(cli.terminal, entriesOf(job)) : '')
      const isFinal = ([job]: readonly Job[]) => job?.stateCategory === 'FINAL'
      if (watch) await watchRows(cli, { output, view, source: pollRows(async () => [await findJob(cli, id)], isFinal) })
      if (watch && !isTable(output)) return
      const job = await findJob(cli, id)
      await printObject(cli, job, output, () => formatSheet(cli.terminal, entriesOf(job)))
    })
}

function entriesOf(job: Job): [string, string | null][] {
  const { currentRun: run, scheduling } = job
  const spec = requireField(job.spec)
  const command = spec.command ?? [...(spec.executable ? [spec.executable] : []), ...(spec.arguments ?? [])]
  return [
    ['job', job.id],
    ['name', job.name],
    ['state', formatState(job)],
    // Left out for BLOCKED jobs, because the next line says the same.
    ['why', job.state === 'BLOCKED' ? null : job.stateInfo],
    ['waits for', scheduling?.reasons.map(({ message }) => message).join('; ') ?? null],
    ['missing', scheduling?.fit.missing.join('; ') ?? null],
    ['position', formatPosition(job)],
    ['may start', formatStart(job.scheduling?.estimatedStart)],
    ['held for it', formatHold(job)],
    ['command', command.map(quoteShell).join(' ')],
    ['handler', spec.handler],
    ['image', spec.image],
    ['workdir', spec.workdir],
    ['asks for', resourcesText(spec)],
    ['labels', formatLabels(job.labels)],
    ['user', job.user.name],
    ['queue', `${job.queue.name} (pool ${job.pool.name}, executor ${job.executor})`],
    ['reservation', job.capacityReservation?.name ?? null],
    ['priority', job.priority === null ? null : String(job.priority)],
    ['fair share', job.fairShare && shareText(job.fairShare)],
    ['run', runText(job)],
    ['gpus', run.gpuIds.join(', ')],
    ['address', run.ip],
    ['used', usageText(run.usage)],
    ['native id', job.nativeId],
    ['progress', progressText(job)],
    ['cost', job.cost && formatMoney(job.cost)],
    ['depends on', job.dependencies.map((each) => `${each.job.id} (${each.job.state})`).join(', ')],
    ['retry of', job.retryOf?.id ?? null],
    [
      'artifacts',
      [...job.artifacts.nodes.map(({ name }) => name), ...(job.artifacts.pageInfo.hasNextPage ? ['…'] : [])].join(', '),
    ],
    ['created', formatTime(job.createdAt)],
    ['started', formatTime(job.startedAt)],
    ['finished', formatTime(job.finishedAt)],
  ]
}

/** Describes the current run; null: no run has started. */
function runText({ attempt, maxAttempts, stateCategory, startedAt, currentRun: { nodeNames } }: Job): string | null {
  if (startedAt === null && (stateCategory === 'WAITING' || nodeNames.length === 0))
    return maxAttempts > 1 ? `at most ${maxAttempts}` : null
  return `${attempt} of at most ${maxAttempts}${nodeNames.length > 0 ? ` on ${nodeNames.join(', ')}` : ''}`
}

export function formatPosition({ position, pool, scheduling }: Job): string | null {
  if (position === null) return null
  return `${position} in ${pool.name}${scheduling?.positionIsExact === false ? ' (approximate)' : ''}`
}

export function formatHold({ scheduling }: Job): string | null {
  const hold = scheduling?.hold
  if (!hold) return null
  const leaving = hold.waitingForVictims > 0 ? `, waiting for ${countJobs(hold.waitingForVictims)} to be preempted` : ''
  return `${hold.nodes.map(({ name }) => name).join(', ')}${hold.expectedAt === null ? '' : `, until about ${formatTime(hold.expectedAt)}`}${leaving}`
}

const shareText = ({ account, share, weight, bid }: NonNullable<Job['fairShare']>) =>
  `account ${account} has the share ${+share.toFixed(3)} (weight ${weight}); bid ${bid}`

function usageText(usage: Job['currentRun']['usage']): string | null {
  if (!usage) return null
  const { cpuSeconds, gpuSeconds, maxMemoryBytes } = usage
  return [
    ...(cpuSeconds === null ? [] : [`${formatDuration(cpuSeconds)} of cpu`]),
    ...(gpuSeconds === null ? [] : [`${formatDuration(gpuSeconds)} of gpu`]),
    ...(maxMemoryBytes === null ? [] : [`at most ${formatMemory(maxMemoryBytes)}`]),
  ].join(', ')
}

function resourcesText({ resources, maxRunTimeSeconds }: NonNullable<Job['spec']>): string {
  const parts = [`${resources.cpu} cpu`, formatMemory(resources.memoryBytes)]
  if (resources.gpu > 0) parts.push(`${resources.gpu} gpu`)
  if (maxRunTimeSeconds !== null) parts.push(`at most ${formatDuration(maxRunTimeSeconds)}`)
  return parts.join(', ')
}

function progressText({ progress }: Job): string | null {
  if (!progress) return null
  const percent = progress.fraction === null ? [] : [`${Math.round(progress.fraction * 100)} %`]
  return [...percent, ...(progress.message ? [progress.message] : [])].join(' · ')
}
