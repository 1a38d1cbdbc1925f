import type { Command, Option } from 'commander'
import { JobsDocument, SubmissionQueuesDocument, UsersDocument } from '../../client/generated/graphql.ts'
import { stateWords } from '../reading/filter.ts'
import { readGpus, readPoolNames } from '../reading/nodes.ts'
import { formats } from '../showing/output.ts'
import type { Cli } from './cli.ts'
import { findCommandPath, findOption } from './command-path.ts'

/** Completions of a command line, as `value<tab>description`. */

export interface Completion {
  value: string
  about: string
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Scripts for the shells. Each passes the words so far to `berth __complete`; the last word may be empty. */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `_berth() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(berth __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _berth berth
`,
  zsh: `#compdef berth
_berth() {
  local -a lines
  lines=("\${(@f)$(berth __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/:/\\\\:/g; s/\\t/:/')}")
  _describe berth lines
}
compdef _berth berth
`,
  fish: `complete -c berth -f -a '(berth __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

export async function complete(cli: Cli, program: Command, words: readonly string[]): Promise<Completion[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  if (before.includes('--')) return []
  const path = findCommandPath(program, before)
  const place = { command: path.at(-1) ?? program, rest: before.slice(path.length - 1), current }
  const found = await findCandidates(cli, place)
  return found.filter(({ value }) => value.startsWith(current))
}

interface Place {
  command: Command
  rest: readonly string[]
  current: string
}

async function findCandidates(cli: Cli, { command, rest, current }: Place): Promise<Completion[]> {
  const flag = rest.at(-1)
  const option = flag === undefined ? undefined : findOption(command, flag)
  if (option && takesValue(option)) return readValues(cli, option.attributeName())
  if (current.startsWith('-'))
    return command.options.map(({ long, description }) => ({ value: long ?? '', about: description }))
  if (command.commands.length > 0 && rest.length === 0)
    return command.commands
      .filter((each) => !each.name().startsWith('__'))
      .map((each) => ({ value: each.name(), about: each.summary() || each.description() }))
  const [argument] = command.registeredArguments
  return argument ? readValues(cli, argument.name()) : []
}

const takesValue = ({ required, optional }: Option) => required || optional

/** Functions that read values from the server, by the name of an argument or of an option. */
const sources: Readonly<Record<string, (cli: Cli) => Promise<Completion[]>>> = {
  context: async ({ contexts }) => contexts.list().map((value) => ({ value, about: '' })),
  job: readJobs,
  after: readJobs,
  user: readUsers,
  queue: readQueues,
  pool: readPools,
  node: readNodes,
  output: async () => formats.map((value) => ({ value, about: '' })),
  state: async () => stateWords.map((value) => ({ value, about: '' })),
}

const readValues = async (cli: Cli, name: string): Promise<Completion[]> => (await sources[name]?.(cli)) ?? []

async function readJobs(cli: Cli): Promise<Completion[]> {
  const { jobs } = await cli.connection().request(JobsDocument, { first: 50 })
  return jobs.nodes.map(({ id, state, name }) => ({ value: id, about: `${state} ${name ?? ''}`.trim() }))
}

async function readUsers(cli: Cli): Promise<Completion[]> {
  const { users } = await cli.connection().request(UsersDocument, { first: 100 })
  return [
    { value: 'me', about: 'you' },
    ...users.nodes.map(({ name, displayName }) => ({ value: name, about: displayName ?? '' })),
  ]
}

async function readQueues(cli: Cli): Promise<Completion[]> {
  const { submissionQueues } = await cli.connection().request(SubmissionQueuesDocument, {})
  return submissionQueues.map(({ name, pool }) => ({ value: name, about: `pool ${pool?.name ?? 'removed'}` }))
}

async function readPools(cli: Cli): Promise<Completion[]> {
  return (await readPoolNames(cli)).map((value) => ({ value, about: '' }))
}

async function readNodes(cli: Cli): Promise<Completion[]> {
  return [...new Set((await readGpus(cli)).map(({ node }) => node.name))].map((value) => ({ value, about: '' }))
}
