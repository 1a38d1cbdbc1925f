import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type Executor,
  type JobFilter,
  type JobOrder,
  type JobState,
  type LabelFilter,
  StateReason,
  SubmissionQueuesDocument,
  WhoAmIDocument,
} from '../../client/generated/graphql.ts'
import { stateGroups } from '../../client/text/states.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { readChoices, readExecutorChoices } from './choices.ts'
import { findNodes, nodeNotFound, poolNotFound, readPoolNames } from './nodes.ts'
import { findTeamId, findUserId } from './people.ts'
import { readPastTime } from './times.ts'

/** Flags that filter jobs: in `ls`, and in commands that act on all matching jobs. */

export interface FilterFlags {
  state?: JobState[]
  user?: string[]
  team?: string[]
  account?: string[]
  project?: string[]
  pool?: string[]
  queue?: string[]
  executor?: Executor[]
  label?: LabelFilter[]
  tag?: string[]
  node?: string
  reason?: StateReason[]
  name?: string
  text?: string
  since?: string
  until?: string
  startedSince?: string
  finishedSince?: string
  finishedUntil?: string
}

const flags: readonly (() => Option)[] = [
  () =>
    new Option(
      '-s, --state <state...>',
      `only jobs in these states, or ${Object.keys(stateGroups).join(', ')}`,
    ).argParser(readStates),
  () => new Option('-u, --user <name...>', 'only jobs of these users; "me" is you'),
  () => new Option('--team <name...>', 'only jobs of these teams'),
  () => new Option('--account <name...>', 'only jobs charged to these accounts'),
  () => new Option('--project <name...>', 'only jobs of these projects'),
  () => new Option('--pool <name...>', 'only jobs of these pools'),
  () => new Option('--queue <name...>', 'only jobs of these queues'),
  () => new Option('--executor <name...>', 'only jobs of these executors').argParser(readExecutorChoices),
  () => new Option('-l, --label <key[=value]>', 'only jobs with this label; may be repeated').argParser(readLabel),
  () => new Option('--tag <tag...>', 'only jobs with all of these tags'),
  () => new Option('--node <name>', 'only jobs that hold resources on this node'),
  () =>
    new Option('--reason <reason...>', 'only jobs with these reasons of their state, such as EXIT_CODE').argParser(
      readReasons,
    ),
  () => new Option('--name <glob>', 'only jobs whose name matches this glob, such as "train-*"'),
  () =>
    new Option('--text <text>', 'only jobs with this text in their name or a label, or at the beginning of their id'),
  () =>
    new Option('--since <time>', 'only jobs submitted after this time: 2h, 7d or 2030-01-31').argParser(readPastTime),
  () => new Option('--until <time>', 'only jobs submitted before this time').argParser(readPastTime),
  () => new Option('--started-since <time>', 'only jobs first started after this time').argParser(readPastTime),
  () => new Option('--finished-since <time>', 'only jobs ended after this time').argParser(readPastTime),
  () => new Option('--finished-until <time>', 'only jobs ended before this time').argParser(readPastTime),
]

/** Adds the filter flags. If the command has a flag with the same name, the filter flag gets the prefix `with-`. */
export function addFilterFlags(command: Command, heading: string): Command {
  for (const create of flags) {
    const option = create()
    const isTaken = command.options.some((each) => each.long === option.long)
    command.addOption((isTaken ? withPrefix(option) : option).helpGroup(heading))
  }
  return command
}

function withPrefix(option: Option): Option {
  const { flags: written, description, parseArg } = option
  const renamed = new Option(written.replace(/^(-\w, )?--/, '--with-'), description)
  return parseArg ? renamed.argParser(parseArg) : renamed
}

/** Returns the filter flags from the options of a command, without the prefix `with-`. */
export function pickFilterFlags(command: Command): FilterFlags {
  const has = (name: string) => command.options.some((each) => each.attributeName() === name)
  const prefixed = (name: string) => `with${name[0]?.toUpperCase()}${name.slice(1)}`
  const names = flags.map((create) => create().attributeName())
  const entries = names.map((name) => [name, command.getOptionValue(has(prefixed(name)) ? prefixed(name) : name)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

export async function readFilter(cli: Cli, given: FilterFlags): Promise<JobFilter> {
  const { user, team, label = [], tag = [] } = given
  const labels = [...label, ...tag.map((key) => ({ key, value: '' }))]
  const filter: { [Name in keyof JobFilter]: JobFilter[Name] | undefined } = {
    states: given.state,
    users: user && (await findUsers(cli, split(user))),
    teams: team && (await Promise.all(split(team).map((name) => findTeamId(cli, name)))),
    accounts: split(given.account),
    projects: split(given.project),
    pools: split(given.pool),
    queues: split(given.queue),
    executors: given.executor,
    labels: labels.length > 0 ? labels : undefined,
    node: given.node,
    stateReasons: given.reason,
    name: given.name || undefined,
    text: given.text,
    createdAfter: given.since,
    createdBefore: given.until,
    startedAfter: given.startedSince,
    finishedAfter: given.finishedSince,
    finishedBefore: given.finishedUntil,
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as JobFilter
}

/** Refuses unknown names if no job matches. It runs only then, because jobs of removed pools, queues and nodes match. */
export async function requireKnownNames(cli: Cli, { pools, queues, node, labels }: JobFilter): Promise<void> {
  const listed = labels?.find(({ value }) => value?.includes(','))
  if (listed)
    throw new Stop(
      exitCodes.notFound,
      `No job has the label ${listed.key}=${listed.value}`,
      'a label has one value, with its commas; jobs with all of several labels match',
    )
  if (pools) {
    const known = await readPoolNames(cli)
    const pool = pools.find((name) => !known.includes(name))
    if (pool !== undefined) throw poolNotFound(pool)
  }
  if (queues) {
    const { submissionQueues } = await cli.connection().request(SubmissionQueuesDocument, {})
    const known = submissionQueues.map(({ name }) => name)
    const queue = queues.find((name) => !known.includes(name))
    if (queue !== undefined)
      throw new Stop(exitCodes.notFound, `Queue ${queue} not found`, `the queues are ${known.join(', ')}`)
  }
  if (typeof node === 'string') {
    const nodes = await findNodes(cli, undefined)
    if (!nodes.some(({ name }) => name === node)) throw nodeNotFound(node)
  }
}

function split(words: readonly string[]): string[]
function split(words: readonly string[] | undefined): string[] | undefined
function split(words: readonly string[] | undefined) {
  return words?.flatMap((word) => word.split(','))
}

async function findUsers(cli: Cli, called: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of called)
    ids.push(
      name === 'me' ? (await cli.connection().request(WhoAmIDocument, {})).viewer.user.id : await findUserId(cli, name),
    )
  return ids
}

const states = Object.values(stateGroups).flat()
const readState = readChoices(states)

/** Values of --state. */
export const stateWords = [...Object.keys(stateGroups), ...states.map((state) => state.toLowerCase())]

const readStates = (given: string, before: JobState[] = []): JobState[] => [
  ...before,
  ...given.split(',').flatMap((word) => stateGroups[word.toLowerCase()] ?? readState(word)),
]

const readReason = readChoices(Object.values(StateReason))

const readReasons = (given: string, before: StateReason[] = []): StateReason[] => [
  ...before,
  ...given.split(',').flatMap((word) => readReason(word)),
]

export function readLabel(given: string, before: LabelFilter[] = []): LabelFilter[] {
  const [, key, value] = /^([^=]+)(?:=(.*))?$/s.exec(given) ?? []
  if (key === undefined) throw new InvalidArgumentError('Expected key=value, or a key.')
  return [...before, value === undefined ? { key } : { key, value }]
}

const orderFields = {
  created: 'CREATED_AT',
  started: 'STARTED_AT',
  finished: 'FINISHED_AT',
  priority: 'PRIORITY',
} as const

export function readOrder(given: string): JobOrder {
  const [name = '', direction = 'desc', ...rest] = given.toLowerCase().split(':')
  const field = Object.entries(orderFields).find(([each]) => each === name)?.[1]
  if (!field || rest.length > 0 || (direction !== 'asc' && direction !== 'desc'))
    throw new InvalidArgumentError(`Expected ${Object.keys(orderFields).join(', ')}, also with :asc.`)
  return { field, direction: direction === 'asc' ? 'ASC' : 'DESC' }
}
