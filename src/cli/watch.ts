import {
  JobDocument,
  type JobEventRowFragment,
  type JobRowFragment,
  JobStatusDocument,
  TailDocument,
} from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { exitCodes, Stop } from './exit.ts'
import { eventText } from './render.ts'
import { styled } from './terminal.ts'

/** Live views of one job. They survive restarts of the server (client/resume.ts). */

export interface LogView {
  lastLines?: number
}

/** The job; throws a Stop if it does not exist or no server answers. */
export async function findJob(cli: Cli, id: string) {
  const { job } = await cli.connection().request(JobDocument, { id }, { attempts: 2 })
  if (!job) throw new Stop(exitCodes.notFound, `There is no job ${id} that you may see`, 'see "berth ls"')
  return job
}

export interface EventView {
  after?: string
  onEvent?: (event: JobEventRowFragment) => Promise<void>
}

/** Waits until the job is final and returns it. */
export async function untilFinal(cli: Cli, jobId: string, { after, onEvent }: EventView = {}): Promise<JobRowFragment> {
  const variables = after === undefined ? { jobId } : { jobId, after }
  for await (const { jobStatus: message } of cli.connection().follow(JobStatusDocument, variables)) {
    if (message.__typename === 'StreamReset' && message.resetReason === 'DELETED')
      throw new Stop(exitCodes.notFound, `${jobId} was deleted`)
    if (message.__typename !== 'JobTransitions') continue
    for (const event of message.transitions) await onEvent?.(event)
    if (message.isFinal) return message.job
  }
  return findJob(cli, jobId)
}

/** Prints the output of a job live; stdout gets exactly its bytes. Returns at the end of the log. */
export async function followLog(cli: Cli, jobId: string, view: LogView = {}): Promise<void> {
  const { terminal } = cli
  for await (const { tail: message } of cli.connection().follow(TailDocument, { jobId, ...view })) {
    switch (message.__typename) {
      case 'LogBatch':
        await terminal.write(message.text)
        break
      case 'LogGap':
        terminal.say(gapText(message))
        break
      case 'RunChanged':
        if (message.newRun.number > 1) terminal.say(`run ${message.newRun.number} starts`)
        break
      case 'StreamReset':
        terminal.say(`the log starts again (${message.resetReason})`)
        break
      case 'StreamHeartbeat':
        break
      default:
        message satisfies never
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
