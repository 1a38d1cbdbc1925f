import { setTimeout as sleep } from 'node:timers/promises'
import {
  JobDocument,
  type JobEventRowFragment,
  type JobRowFragment,
  type JobState,
} from '../../client/generated/graphql.ts'
import type { Client } from '../../client/jobs/client.ts'
import type { FollowJobOptions } from '../../client/jobs/events.ts'
import type { TailOptions } from '../../client/jobs/logs.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, unknownJob } from '../frame/exit.ts'
import { applyStyle, type Terminal } from '../frame/terminal.ts'
import { nowMs } from '../reading/times.ts'
import { LinePrefix } from './line-prefix.ts'
import { formatEvent, formatTime } from './render.ts'

export interface LogView extends Pick<TailOptions, 'lastLines' | 'run' | 'streams'> {
  /** Text before each line. */
  prefix?: string
}

export async function findJob(cli: Cli, id: string) {
  const { job } = await cli.connection().request(JobDocument, { id }, { attempts: 2 })
  if (!job) throw unknownJob(id)
  return job
}

export interface WaitView extends Pick<FollowJobOptions, 'from'> {
  /** The wait also ends when the job has reached one of these states. */
  states?: readonly JobState[]
  onEvent?: (event: JobEventRowFragment) => Promise<void>
}

export async function waitUntilFinal(
  cli: Cli,
  jobId: string,
  { from = 'CURRENT', states = [], onEvent }: WaitView = {},
): Promise<JobRowFragment> {
  const isReached = (state: JobState | null) => state !== null && states.includes(state)
  for await (const update of cli.connection().follow(jobId, { from })) {
    if (update.__typename === 'StreamReset' && update.resetReason === 'DELETED')
      throw new Stop(exitCodes.notFound, `${jobId} was deleted`)
    if (update.__typename !== 'JobTransitions') continue
    for (const event of update.transitions) await onEvent?.(event)
    if (update.isFinal || isReached(update.job.state) || update.transitions.some(({ to }) => isReached(to)))
      return update.job
  }
  return findJob(cli, jobId)
}

/** Prints the output of a job live. Stdout gets exactly its bytes. Resolves at the end of the log. */
export async function followLog(cli: Cli, jobId: string, { prefix = '', ...view }: LogView = {}): Promise<void> {
  const { terminal } = cli
  const lines = new LinePrefix(cli, prefix)
  for await (const part of cli.connection().tail(jobId, view)) {
    switch (part.__typename) {
      case 'LogBatch':
        await lines.write(part.text)
        break
      case 'LogGap':
        terminal.say(formatGap(part))
        break
      case 'RunChanged':
        if (part.run.number > 1) terminal.say(`run ${part.run.number} starts`)
        break
      case 'StreamReset':
        terminal.say(
          part.resetReason === 'DELETED' ? `${jobId} was deleted` : `the log starts again (${part.resetReason})`,
        )
        break
      default:
        part satisfies never
    }
  }
  await lines.end()
}

interface Gap {
  runNumber: number
  startOffset: number
  endOffset: number
  gapReason: string
}

export function formatGap({ runNumber: run, startOffset, endOffset, gapReason }: Gap): string {
  const bytes = endOffset - startOffset
  // The server stores a gap of unknown size with a length of 1.
  return bytes > 1
    ? `${bytes} bytes of run ${run} are missing (${gapReason})`
    : `output of run ${run} is missing (${gapReason})`
}

export async function printEvent({ terminal }: Cli, event: JobEventRowFragment): Promise<void> {
  await terminal.write(`${applyStyle(terminal, 'dim', formatEvent(event))}\n`)
}

/** On Ctrl-C, ends the command and says that the job continues. */
export function detachOnInterrupt(cli: Cli, id: string): void {
  cli.leaveOnInterrupt(
    `detached; job ${id} continues: "berth logs -f ${id}" follows it, "berth cancel ${id}" cancels it`,
  )
}

const silenceMs = 3_000

/** If the job still waits after `silenceMs`, says why. */
export function reportWaiting(cli: Cli, id: string): void {
  const tell = async () => {
    const { job } = await cli.connection().request(JobDocument, { id })
    if (job?.state !== 'QUEUED' && job?.state !== 'BLOCKED') return
    const why = job.scheduling?.reasons[0]?.message ?? job.stateInfo
    cli.terminal.say(`berth: ${id} is ${job.state}${why ? `: ${why}` : ''}`)
  }
  // Ignores a failed request, which `reportOutages` reports.
  sleep(silenceMs, undefined, { ref: false, signal: cli.ended })
    .then(tell)
    .catch(() => undefined)
}

/** If a live view has had no connection for a while, says so. The view reconnects automatically. */
export function reportOutages({ onOutage, outage }: Pick<Client, 'onOutage' | 'outage'>, { say }: Terminal): void {
  let timer: NodeJS.Timeout | undefined
  let isReported = false
  const tell = (since: number) => {
    isReported = true
    say(`berth: not live since ${formatTime(new Date(since).toISOString())}: ${outage()?.message}; retrying`)
  }
  onOutage(() => {
    if (outage()) {
      timer ??= setTimeout(tell, silenceMs, nowMs()).unref()
      return
    }
    if (isReported) say('berth: reconnected')
    clearTimeout(timer)
    timer = undefined
    isReported = false
  })
}
