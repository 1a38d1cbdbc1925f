import { emitKeypressEvents } from 'node:readline'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Command, CommanderError } from 'commander'
import { RequestFailed } from '../client/connection/failure.ts'
import { type Client, createClient } from '../client/jobs/client.ts'
import type { Cli } from './cli.ts'
import { findCommandPath, findOption } from './command-path.ts'
import { moveContextOption, readContextOption } from './context-option.ts'
import { exitCodes, MissingJob, Stop, stopForFailure, usageError } from './exit.ts'
import { replaceLast } from './last-job.ts'
import { ContextFiles } from './login/context-files.ts'
import { chooseServer, type ServerChoice } from './login/server-choice.ts'
import { pickJob } from './pick-job.ts'
import { createProgram as createCommands } from './program.ts'
import { createTerminal, readColour } from './terminal.ts'
import type { KeyPress } from './top-view.ts'
import { reportOutages } from './watch.ts'
import { decodeUtf8 } from './yaml.ts'

/** The only file of the command line that uses the process. Commands get a `Cli` and end with an exit code of exit.ts. */

const { env, stdout, stderr, stdin } = process

const restores: (() => void)[] = []
let words = readWords(process.argv.slice(2))

const terminal = createTerminal({ stdout, stderr, colour: readColour(env), onExit })
const contexts = new ContextFiles(env)
let readContextName = () => readContextOption(createProgram, words)
let choice: ServerChoice | undefined
let connection: Client | undefined

/** Signals end a process without the event `exit`. */
function onExit(restore: () => void): void {
  restores.push(restore)
  process.once('exit', restore)
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(signal, () => process.exit(code))
}

const cli: Cli = {
  terminal,
  env,
  get cwd() {
    return currentDirectory()
  },
  contexts,
  useContext: (name) => {
    readContextName = () => name
  },
  server: () => {
    choice ??= chooseServer(contexts, env, readContextName())
    return choice
  },
  connection: () => {
    connection ??= connect(cli.server())
    return connection
  },
  readStdin: async () => decodeUtf8(await buffer(stdin), 'stdin'),
  leaveOnInterrupt: (farewell) =>
    void process.once('SIGINT', () => {
      for (const restore of restores) restore()
      if (farewell !== '') terminal.say(farewell)
      process.exit(exitCodes.detached)
    }),
  readKeys: stdin.isTTY ? readKeys : null,
  exitWith: (code) => {
    process.exitCode = code
  },
  ...(stdin.isTTY && stderr.isTTY
    ? { ask: async (text) => /^y(es)?$/i.test(await ask(`${text} [y/N] `)), askSecret: (text) => ask(text, true) }
    : { ask: null, askSecret: null }),
}

/** A terminal in raw mode sends Ctrl-C as a key. */
function readKeys(onKey: (key: KeyPress) => void): () => void {
  const listen = (_text: string | undefined, key: KeyPress) => onKey(key)
  const restore = () => {
    stdin.setRawMode(false)
    stdin.off('keypress', listen).pause()
  }
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.on('keypress', listen).resume()
  onExit(restore)
  return restore
}

async function ask(question: string, isSecret = false): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const silent = new Writable({ write: (_chunk, _encoding, written) => written() })
  const lines = createInterface({ input: stdin, output: isSecret ? silent : stderr, terminal: true })
  if (isSecret) stderr.write(question)
  lines.once('SIGINT', () => process.exit(exitCodes.detached))
  const answer = await lines.question(isSecret ? '' : question).finally(() => lines.close())
  if (isSecret) stderr.write('\n')
  return answer.trim()
}

/** The launcher `berth` hides the arguments and NODE_OPTIONS from Node. */
function readWords(argv: string[]): string[] {
  if (argv[0] !== ':') return argv
  const { BERTH_NODE_OPTIONS: options } = env
  delete env['BERTH_NODE_OPTIONS']
  if (options !== undefined) env['NODE_OPTIONS'] = options
  return argv.slice(1).map((word) => word.slice(1))
}

function connect({ url, token, context }: ServerChoice): Client {
  try {
    const client = createClient({ url, token })
    reportOutages(client, terminal)
    return client
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw usageError(error.message, env['BERTH_URL'] ? 'set BERTH_URL' : `"berth context rm ${context}" removes it`)
  }
}

function currentDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw usageError('the current directory was removed', 'change to another directory')
  }
}

/** The reader closed the pipe, as `| head` does, or the disk is full. */
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok)
  terminal.say(`berth: cannot write the output: ${error.message}`)
  process.exit(exitCodes.unexpected)
})
stderr.on('error', () => undefined)

const createProgram = (): Command => createCommands(cli, () => named(createProgram()))

const named = (program: Command): string =>
  findCommandPath(program, words)
    .map((each) => each.name())
    .join(' ')

/** Commander takes the "--" before the command of a job for the value of an option. */
function demandValue(program: Command): void {
  const flag = words[words.indexOf('--') - 1]
  if (flag === undefined) return
  const option = findOption(findCommandPath(program, words).at(-1) ?? program, flag)
  if (option?.required) throw usageError(`option '${option.flags}' has no value`, 'write its value before "--"')
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const stop = error instanceof RequestFailed ? stopForFailure(error) : error
  if (stop instanceof Stop) {
    const next = stop.next ?? findHelp(stop)
    const message = next === undefined ? stop.message : stop.message.replace(/\.$/, '')
    terminal.say(`berth: ${[message, next].filter(Boolean).join('; ').replaceAll('\n', ' ')}`)
    return stop.exitCode
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
  for (const line of `berth: ${trace}`.split('\n')) terminal.say(line)
  return exitCodes.unexpected
}

/** The help of the command, for a wrong input whose message has no way on. */
const findHelp = ({ exitCode, message }: Stop): string | undefined =>
  exitCode === exitCodes.usage && !/Did you mean|; /.test(message)
    ? `see "${named(createProgram())} --help"`
    : undefined

/** Commander names neither a wrong word after a group that has a default command, nor one after `help`. */
async function parse(program: Command): Promise<void> {
  const [first, second = ''] = words
  const isIn = ({ commands }: Command, word: string) => commands.some((each) => each.name() === word)
  const group = program.commands.find((each) => each.name() === first && each.commands.length > 0)
  const takesNames = ['artifact', 'backup'].includes(group?.name() ?? '')
  if (group && !takesNames && /^[^-]/.test(second) && second !== 'help' && !isIn(group, second)) {
    const names = group.commands.map((each) => each.name()).join(', ')
    throw usageError(`unknown command '${first} ${second}'`, `the commands of ${first} are ${names}`)
  }
  demandValue(program)
  const isUnknownHelp = first === 'help' && second !== '' && !isIn(program, second)
  await program.parseAsync(isUnknownHelp ? words.slice(1) : words, { from: 'user' })
}

/** On a terminal a person chooses the job that is missing. */
async function parseOrPick(): Promise<void> {
  const program = createProgram()
  const commands = findCommandPath(program, words)
  const pick = async () => {
    const id = await pickJob(cli)
    const at = commands.length - 1
    words = [...words.slice(0, at), id, ...words.slice(at)]
    await parse(createProgram())
  }
  try {
    if (cli.ask && isJobMissing(commands)) return await pick()
    await parse(program)
  } catch (error) {
    if (!cli.ask || !(error instanceof MissingJob)) throw error
    await pick()
  }
}

function isJobMissing(commands: readonly Command[]): boolean {
  const [argument] = commands.at(-1)?.registeredArguments ?? []
  const rest = words.slice(commands.length - 1)
  if (!argument?.required || argument.name() !== 'job' || rest.includes('--help') || rest.includes('-h')) return false
  // Parsing leaves values of options behind, so a program of its own does it.
  return findCommandPath(createProgram(), words).at(-1)?.parseOptions(rest).operands.length === 0
}

try {
  if (typeof WebSocket === 'undefined')
    throw usageError(`Berth needs Node 22.22 or newer; this is ${process.version}`, 'install a newer Node')
  words = moveContextOption(createProgram(), words)
  words = await replaceLast(words, env, () => cli.connection().url)
  await parseOrPick()
} catch (error) {
  for (const restore of restores) restore()
  process.exitCode = report(error)
}
await connection?.close()
