import { JobDocument, type JobEventRowFragment, type JobRowFragment } from '../client/generated/graphql.ts'
import type { Client } from '../client/jobs/client.ts'
import type { FollowJobOptions } from '../client/jobs/events.ts'
import type { Cli } from './cli.ts'
import { exitCodes, Stop, seeJobs } from './exit.ts'
import { eventText } from './render.ts'
import { styled, type Terminal } from './terminal.ts'

/** Live views of one job. They survive restarts of the server (client/connection/resume.ts). */

export interface LogView {
  lastLines?: number
}

/** The job; throws a Stop if it does not exist or no server answers. */
export async function findJob(cli: Cli, id: string) {
  const { job } = await cli.connection().request(JobDocument, { id }, { attempts: 2 })
  if (!job) throw new Stop(exitCodes.notFound, `There is no job ${id} that you may see`, seeJobs)
  return job
}

export interface EventView extends Pick<FollowJobOptions, 'from'> {
  onEvent?: (event: JobEventRowFragment) => Promise<void>
}

/** Waits until the job is final and returns it. */
export async function waitUntilFinal(
  cli: Cli,
  jobId: string,
  { from = 'CURRENT', onEvent }: EventView = {},
): Promise<JobRowFragment> {
  for await (const update of cli.connection().follow(jobId, { from })) {
    if (update.__typename === 'StreamReset' && update.resetReason === 'DELETED')
      throw new Stop(exitCodes.notFound, `${jobId} was deleted`)
    if (update.__typename !== 'JobTransitions') continue
    for (const event of update.transitions) await onEvent?.(event)
    if (update.isFinal) return update.job
  }
  return findJob(cli, jobId)
}

/** Prints the output of a job live; stdout gets exactly its bytes. Returns at the end of the log. */
export async function followLog(cli: Cli, jobId: string, view: LogView = {}): Promise<void> {
  const { terminal } = cli
  for await (const part of cli.connection().tail(jobId, view)) {
    switch (part.__typename) {
      case 'LogBatch':
        await terminal.write(part.text)
        break
      case 'LogGap':
        terminal.say(gapText(part))
        break
      case 'RunChanged':
        if (part.newRun.number > 1) terminal.say(`run ${part.newRun.number} starts`)
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
}

interface Gap {
  run: number
  startOffset: number
  endOffset: number
  gapReason: string
}

export function gapText({ run, startOffset, endOffset, gapReason }: Gap): string {
  const bytes = endOffset - startOffset
  // A gap of unknown size takes one offset.
  return bytes > 1
    ? `${bytes} bytes of run ${run} are missing (${gapReason})`
    : `output of run ${run} is missing (${gapReason})`
}

export async function printEvent({ terminal }: Cli, event: JobEventRowFragment): Promise<void> {
  await terminal.write(`${styled(terminal, 'dim', eventText(event))}\n`)
}

/** Tells the person that the job continues when the command is left. */
export function detachOnInterrupt(cli: Cli, id: string): void {
  cli.leaveOnInterrupt(
    `detached; job ${id} continues: "berth logs -f ${id}" follows it again, "berth cancel ${id}" cancels it`,
  )
}

/** Most jobs begin sooner, and a server that restarts is back sooner. */
const silenceMs = 3_000

/** A job that does not begin has no output: after a while the person is told why it waits. */
export function reportWaiting(cli: Cli, id: string): void {
  const tell = async () => {
    const { job } = await cli.connection().request(JobDocument, { id })
    if (job?.state !== 'QUEUED' && job?.state !== 'BLOCKED') return
    const why = job.scheduling?.reasons[0]?.message ?? job.stateInfo
    cli.terminal.say(`berth: ${id} is ${job.state}${why ? `: ${why}` : ''}`)
  }
  // An outage is told by itself.
  setTimeout(() => tell().catch(() => undefined), silenceMs).unref()
}

/** A live view reconnects by itself and shows nothing meanwhile: after a while the person is told why. */
export function reportOutages({ onOutage, outage }: Pick<Client, 'onOutage' | 'outage'>, { say }: Terminal): void {
  let timer: NodeJS.Timeout | undefined
  let isTold = false
  const tell = () => {
    isTold = true
    say(`berth: ${outage()?.message}; trying again`)
  }
  onOutage(() => {
    if (outage()) {
      timer ??= setTimeout(tell, silenceMs).unref()
      return
    }
    if (isTold) say('berth: the server answers again')
    clearTimeout(timer)
    timer = undefined
    isTold = false
  })
}
