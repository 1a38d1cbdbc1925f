import { buffer } from 'node:stream/consumers'
import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { RequestFailed } from '../client/connection/failure.ts'
import { type Client, createClient } from '../client/jobs/client.ts'
import type { Cli } from './cli.ts'
import { addApprove } from './commands/approve.ts'
import { addArtifact } from './commands/artifact.ts'
import { addAudit } from './commands/audit.ts'
import { addCancel } from './commands/cancel.ts'
import { addCleanup } from './commands/cleanup.ts'
import { addClosure } from './commands/closure.ts'
import { addDoctor } from './commands/doctor.ts'
import { addGpus } from './commands/gpus.ts'
import { addInfo } from './commands/info.ts'
import { addKey } from './commands/key.ts'
import { addLimits } from './commands/limits.ts'
import { addLogs } from './commands/logs.ts'
import { addLs } from './commands/ls.ts'
import { addNodeCommands } from './commands/node.ts'
import { addPriority } from './commands/priority.ts'
import { addProcess } from './commands/process.ts'
import { addProgress } from './commands/progress.ts'
import { addQueue } from './commands/queue.ts'
import { addQuota } from './commands/quota.ts'
import { addReject } from './commands/reject.ts'
import { addReservation } from './commands/reservation.ts'
import { addRetry } from './commands/retry.ts'
import { addRm } from './commands/rm.ts'
import { addRules } from './commands/rules.ts'
import { addServe } from './commands/serve.ts'
import { addSubmit } from './commands/submit.ts'
import { addTeam } from './commands/team.ts'
import { addToken } from './commands/token.ts'
import { addTop } from './commands/top.ts'
import { addUp } from './commands/up.ts'
import { addUser } from './commands/user.ts'
import { addWait } from './commands/wait.ts'
import { exitCodes, Stop, stopForFailure, usage } from './exit.ts'
import { createTerminal } from './terminal.ts'
import { tellOutages } from './watch.ts'
import { textOfBytes } from './yaml.ts'

/**
 * The command line: the only file of it that knows the process. Commands get a `Cli`, and end by exit codes of exit.ts.
 */

const { env, stdout, stderr, stdin } = process
const { NO_COLOR, BERTH_URL, BERTH_TOKEN } = env
const defaultUrl = 'http://127.0.0.1:4000'

const words = readWords(process.argv.slice(2))

const terminal = createTerminal({ stdout, stderr, noColour: Boolean(NO_COLOR) })
let connection: Client | undefined

const cli: Cli = {
  terminal,
  env,
  get cwd() {
    return currentDirectory()
  },
  connection: () => {
    connection ??= connectionTo(BERTH_URL || defaultUrl)
    return connection
  },
  readStdin: async () => textOfBytes(await buffer(stdin), 'stdin'),
  leaveOnInterrupt: (farewell) =>
    void process.once('SIGINT', () => {
      terminal.say(farewell)
      process.exit(exitCodes.detached)
    }),
  exitWith: (code) => {
    process.exitCode = code
  },
}

/** The launcher `berth` hides the arguments and NODE_OPTIONS from Node. */
function readWords(argv: string[]): string[] {
  if (argv[0] !== ':') return argv
  const { BERTH_NODE_OPTIONS: options } = env
  delete env['BERTH_NODE_OPTIONS']
  if (options !== undefined) env['NODE_OPTIONS'] = options
  return argv.slice(1).map((word) => word.slice(1))
}

function connectionTo(url: string): Client {
  try {
    const client = createClient({ url, token: BERTH_TOKEN || undefined })
    tellOutages(client, terminal)
    return client
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw usage(error.message, 'set BERTH_URL')
  }
}

function currentDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw usage('The current directory was removed', 'change to another one')
  }
}

/** The reader of a pipe has closed it, as `| head` does; or a disk is full. */
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok)
  terminal.say(`berth: The output cannot be written: ${error.message}`)
  process.exit(exitCodes.unexpected)
})

function createProgram(): Command {
  const program = new Command('berth')
    .description('Submit jobs and watch them live.')
    .enablePositionalOptions()
    .exitOverride()
    .version(packageJson.version)
    .configureOutput({
      outputError: (message, write) =>
        write(
          `${message
            .replace(/^error: /, 'berth: ')
            .trim()
            .replace(/\.$/, '')
            .replaceAll('\n', ' ')}; see "${named(program)} --help"\n`,
        ),
    })
  for (const add of [
    addUp,
    addServe,
    addSubmit,
    addLs,
    addInfo,
    addQueue,
    addTop,
    addGpus,
    addLogs,
    addWait,
    addCancel,
    addRm,
    addRetry,
    addApprove,
    addReject,
    addRules,
    addPriority,
    addProcess,
    addKey,
    addQuota,
    addLimits,
    addUser,
    addTeam,
    addToken,
    addAudit,
    addNodeCommands,
    addReservation,
    addCleanup,
    addDoctor,
    addProgress,
    addArtifact,
    addClosure,
  ])
    add(program, cli)
  return program
}

/** The command that the arguments name, as far as there is one, and the commands that it is in. */
function findCommands(program: Command): [Command, ...Command[]] {
  const found: [Command, ...Command[]] = [program]
  for (const word of words) {
    const next = found.at(-1)?.commands.find((each) => each.name() === word)
    if (!next) break
    found.push(next)
  }
  return found
}

const named = (program: Command): string =>
  findCommands(program)
    .map((each) => each.name())
    .join(' ')

/** Commander takes the "--" before the command of a job for the value of an option. */
function demandValue(program: Command): void {
  const flag = words[words.indexOf('--') - 1]
  if (flag === undefined) return
  const option = findCommands(program)
    .at(-1)
    ?.options.find(({ required, long, short }) => required && (long === flag || short === flag))
  if (option) throw usage(`option '${option.flags}' has no value`, 'write its value before "--"')
}

/** One line on stderr: what is wrong and what to do next. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const stop = error instanceof RequestFailed ? stopForFailure(error) : error
  if (stop instanceof Stop) {
    terminal.say(`berth: ${[stop.message, stop.next].filter(Boolean).join('; ').replaceAll('\n', ' ')}`)
    return stop.exitCode
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
  for (const line of `berth: ${trace}`.split('\n')) terminal.say(line)
  return exitCodes.unexpected
}

/** Commander names neither a wrong word after a group that has a default command, nor one after `help`. */
async function parse(program: Command): Promise<void> {
  const [first, second = ''] = words
  const isIn = ({ commands }: Command, word: string) => commands.some((each) => each.name() === word)
  const group = program.commands.find((each) => each.name() === first && each.commands.length > 0)
  if (group && /^[^-]/.test(second) && second !== 'help' && !isIn(group, second)) {
    const names = group.commands.map((each) => each.name()).join(', ')
    throw usage(`unknown command '${first} ${second}'`, `the commands of ${first} are ${names}`)
  }
  demandValue(program)
  const isUnknownHelp = first === 'help' && second !== '' && !isIn(program, second)
  await program.parseAsync(isUnknownHelp ? words.slice(1) : words, { from: 'user' })
}

/** An installed package may find any Node. */
function demandNode() {
  if (typeof WebSocket === 'undefined')
    throw usage(`Berth needs Node 22.22 or newer; this is ${process.version}`, 'install a newer Node')
}

try {
  demandNode()
  await parse(createProgram())
} catch (error) {
  process.exitCode = report(error)
}
await connection?.close()
