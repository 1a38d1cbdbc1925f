import { type Command, Option } from 'commander'
import type { JobSelection, RefusalFragment } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { createStop, exitCodes, MissingJob, Stop, seeJobs, usageError } from '../frame/exit.ts'
import { countJobs } from '../showing/render.ts'
import { addFilterFlags, pickFilterFlags, readFilter, requireKnownNames } from './filter.ts'

/** Commands that act on jobs by their ids, or on all jobs that match filter flags. */

export interface SelectionOptions {
  dryRun?: boolean
  yes?: boolean
}

export function addSelectionFlags(command: Command): Command {
  if (!command.options.some(({ long }) => long === '--dry-run'))
    command.option('--dry-run', 'with filters: only count the jobs that match')
  return addFilterFlags(
    command.addOption(new Option('-y, --yes', 'with filters: do not ask')),
    'Filters, instead of jobs:',
  )
}

interface Chunk<Done> {
  remaining: number
  results: readonly { jobId: string; result: Done | RefusalFragment }[]
}

export type SelectionAnswer<Done> = Chunk<Done> | (RefusalFragment & { actualCount?: number })

export interface SelectionAct<Done extends { __typename: string }> {
  /** The verb for messages, such as "cancel". `past` is its participle: "cancelled". */
  verb: string
  past: string
  request: (selection: JobSelection) => Promise<SelectionAnswer<Done>>
  /** The type name of the result for a job that was changed. */
  success: Done['__typename']
}

const idsPerRequest = 1_000

export interface ChosenJobs<Done> {
  done: Done[]
  /** true: filters chose the jobs. */
  isMatching: boolean
  /** A summary in place of a long table. */
  summary: string
}

/** Acts on the jobs `ids`, or on all jobs that match the filter flags. Exits with the code of the first refusal. */
export async function actOnChosen<Done extends { __typename: string }>(
  cli: Cli,
  command: Command,
  ids: readonly string[],
  act: SelectionAct<Done>,
): Promise<ChosenJobs<Done>> {
  const isMatching = Object.keys(pickFilterFlags(command)).length > 0
  if (ids.length > 0 && isMatching) throw usageError('pass jobs or filters, not both')
  if (ids.length === 0 && !isMatching) throw new MissingJob(`pass its id or filters; ${seeJobs}`)
  const done = isMatching ? await actOnMatching(cli, act, command) : await actOnJobs(cli, act, ids)
  const count = done?.length ?? 0
  return { done: done ?? [], isMatching, summary: done ? `${countJobs(count)} ${act.past}\n` : '' }
}

async function actOnJobs<Done extends { __typename: string }>(
  cli: Cli,
  act: SelectionAct<Done>,
  ids: readonly string[],
): Promise<Done[]> {
  const refusals = new Refusals(cli, ids.length === 1)
  const done: Done[] = []
  for (let at = 0; at < ids.length; at += idsPerRequest) {
    const chunk = expectChunk(await act.request({ jobIds: ids.slice(at, at + idsPerRequest) }))
    done.push(...refusals.separate(chunk, act))
  }
  refusals.report()
  return done
}

/** Asks for confirmation and acts on all matching jobs; null: no job matches, or a dry run. */
async function actOnMatching<Done extends { __typename: string }>(
  cli: Cli,
  act: SelectionAct<Done>,
  command: Command,
): Promise<Done[] | null> {
  const { dryRun, yes }: SelectionOptions = command.opts()
  const filter = await readFilter(cli, pickFilterFlags(command))
  const request = (expectedCount: number) => act.request({ matching: { filter, expectedCount } })
  // Counts by a request that expects 0 jobs: it changes nothing, and its mismatch has the number of matching jobs.
  const probe = await request(0)
  const count = readActualCount(probe) ?? expectChunk(probe).results.length
  if (count === 0) await requireKnownNames(cli, filter)
  const jobs = countJobs(count)
  if (dryRun || count === 0) {
    cli.terminal.say(count === 0 ? `berth: no job to ${act.verb} matches` : `berth: ${jobs} would be ${act.past}`)
    return null
  }
  if (!yes) await confirm(cli, `${act.verb[0]?.toUpperCase()}${act.verb.slice(1)} ${jobs}?`, jobs)
  const refusals = new Refusals(cli, false)
  try {
    return await actOnAllChunks(cli, { ...act, count, requestMatching: request }, refusals)
  } finally {
    cli.terminal.progress(null)
    refusals.report()
  }
}

interface MatchingAct<Done extends { __typename: string }> extends SelectionAct<Done> {
  count: number
  requestMatching: (expectedCount: number) => Promise<SelectionAnswer<Done>>
}

/** Repeats the request until no job remains. After a lost response fewer jobs match, and it continues with these. */
async function actOnAllChunks<Done extends { __typename: string }>(
  cli: Cli,
  act: MatchingAct<Done>,
  refusals: Refusals,
): Promise<Done[]> {
  const done: Done[] = []
  let changed = 0
  let remaining = act.count
  while (remaining > 0) {
    const answer = await act.requestMatching(remaining)
    const actual = readActualCount(answer)
    if (actual !== undefined) {
      if (actual > remaining) throw moreJobs(act, changed)
      remaining = actual
      continue
    }
    const chunk = expectChunk(answer)
    const ended = refusals.separate(chunk, act).filter((each) => !('changed' in each) || each.changed)
    done.push(...ended)
    changed += ended.length
    cli.terminal.progress(`${changed} of ${countJobs(act.count)} ${act.past}`)
    if (ended.length === 0) break
    if (changed + chunk.remaining > act.count) throw moreJobs(act, changed)
    remaining = chunk.remaining
  }
  return done
}

const moreJobs = ({ past }: { past: string }, changed: number) =>
  new Stop(exitCodes.refused, `${countJobs(changed)} ${past}; more jobs match now`, 'repeat the command')

const readActualCount = (answer: SelectionAnswer<unknown>): number | undefined =>
  'actualCount' in answer ? answer.actualCount : undefined

function expectChunk<Done>(answer: SelectionAnswer<Done>): Chunk<Done> {
  if ('results' in answer) return answer
  throw createStop(answer)
}

/** Refusals of jobs, except those that a later request changed. */
class Refusals {
  readonly #cli: Cli
  readonly #isAlone: boolean
  readonly #stops = new Map<string, Stop>()

  constructor(cli: Cli, isAlone: boolean) {
    this.#cli = cli
    this.#isAlone = isAlone
  }

  /** Adds the refusals of a response, and returns its successes. */
  separate<Done extends { __typename: string }>({ results }: Chunk<Done>, { success }: SelectionAct<Done>): Done[] {
    const isDone = (result: Done | RefusalFragment): result is Done => result.__typename === success
    for (const { jobId, result } of results) {
      if (isDone(result)) this.#stops.delete(jobId)
      else this.#stops.set(jobId, createStop(result as RefusalFragment, seeJobs))
    }
    return results.map(({ result }) => result).filter(isDone)
  }

  /** Prints a line for each distinct message, and exits with the code of the first refusal. */
  report(): void {
    const [first] = this.#stops.values()
    if (!first) return
    if (this.#isAlone) throw first
    this.#cli.exitWith(first.exitCode)
    this.#cli.terminal.progress(null)
    const explain = ({ message, next }: Stop) => [message, next].filter(Boolean).join('; ')
    for (const [text, refused] of Map.groupBy(this.#stops, ([, stop]) => explain(stop)))
      this.#cli.terminal.say(`berth: ${nameJobs(refused.map(([id]) => id))}: ${text}`)
  }
}

/** Maximum number of job ids listed in a message. */
const namedJobsMax = 3

function nameJobs(ids: readonly string[]): string {
  const more = ids.length - namedJobsMax
  const named = ids.slice(0, namedJobsMax).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}

async function confirm(cli: Cli, question: string, jobs: string): Promise<void> {
  if (!cli.ask) throw usageError(`the filters match ${jobs}`, 'pass --yes to act on all of them, or --dry-run')
  if (!(await cli.ask(question))) throw new Stop(exitCodes.refused, 'nothing was changed')
}
