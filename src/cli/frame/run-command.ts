import { type Command, CommanderError } from 'commander'
import { RequestFailed } from '../../client/connection/failure.ts'
import { type Client, createClient } from '../../client/jobs/client.ts'
import { ContextFiles } from '../login/context-files.ts'
import { chooseServer, type ServerChoice } from '../login/server-choice.ts'
import { replaceLast } from '../reading/last-job.ts'
import { pickJob } from '../reading/pick-job.ts'
import { reportOutages } from '../showing/watch.ts'
import type { Cli } from './cli.ts'
import { findCommandPath, findOption } from './command-path.ts'
import { moveContextOption, readContextOption } from './context-option.ts'
import { createStopForFailure, exitCodes, MissingJob, Stop, usageError } from './exit.ts'
import { createProgram } from './program.ts'
import type { Stdio } from './stdio.ts'
import { createTerminal, readColour, type Streams } from './terminal.ts'

type GivenParts = 'env' | 'cwd' | 'readStdin' | 'stdio' | 'becomeProgram' | 'readKeys' | 'ask' | 'askSecret'

/** The part of a process that a command needs. */
export interface CommandHost extends Pick<Cli, GivenParts>, Pick<Streams, 'stdout' | 'stderr'> {
  onExit: (callback: () => void) => void
  /** Calls `callback` on Ctrl-C, and then ends the process. */
  onInterrupt: (callback: () => void) => void
}

/** Runs a command line. Returns the exit code. */
export const runCommand = (words: readonly string[], host: CommandHost): Promise<number> =>
  new CommandRun(words, host).run()

class CommandRun {
  readonly #host: CommandHost
  readonly #cli: Cli
  readonly #ended = new AbortController()
  readonly #restores: (() => void)[] = []
  #words: string[]
  #readContextName = () => readContextOption(this.#createProgram, this.#words)
  #choice: ServerChoice | undefined
  #connection: Client | undefined
  #stdio: Stdio | undefined
  #exitCode: number = exitCodes.ok

  constructor(words: readonly string[], host: CommandHost) {
    this.#words = [...words]
    this.#host = host
    this.#cli = this.#createCli()
  }

  async run(): Promise<number> {
    try {
      this.#words = moveContextOption(this.#createProgram(), this.#words)
      this.#words = await replaceLast(this.#words, this.#cli.env, () => this.#cli.connection().url)
      await this.#parseOrPick()
    } catch (error) {
      this.#restore()
      this.#exitCode = this.#report(error)
    }
    this.#ended.abort()
    await this.#connection?.close()
    return this.#exitCode
  }

  #createCli(): Cli {
    const host = this.#host
    const { env, stdout, stderr, readKeys } = host
    const contexts = new ContextFiles(env)
    return {
      ...{ env, contexts, ended: this.#ended.signal },
      terminal: createTerminal({ stdout, stderr, colour: readColour(env), onExit: this.#onExit }),
      get cwd() {
        return host.cwd
      },
      useContext: (name) => {
        this.#readContextName = () => name
      },
      server: () => {
        this.#choice ??= chooseServer(contexts, env, this.#readContextName())
        return this.#choice
      },
      connection: () => {
        this.#connection ??= this.#connect()
        return this.#connection
      },
      leaveOnInterrupt: (farewell) =>
        host.onInterrupt(() => {
          this.#restore()
          if (farewell !== '') this.#cli.terminal.say(farewell)
        }),
      exitWith: (code) => {
        this.#exitCode = code
      },
      readStdin: host.readStdin,
      stdio: () => {
        this.#stdio ??= host.stdio()
        return this.#stdio
      },
      becomeProgram: host.becomeProgram,
      readKeys:
        readKeys &&
        ((onKey) => {
          const restore = readKeys(onKey)
          this.#onExit(restore)
          return restore
        }),
      ask: host.ask,
      askSecret: host.askSecret,
    }
  }

  #onExit = (restore: () => void): void => {
    this.#restores.push(restore)
    this.#host.onExit(restore)
  }

  #restore(): void {
    for (const restore of this.#restores) restore()
  }

  #connect(): Client {
    const { url, token, context } = this.#cli.server()
    try {
      const client = createClient({ url, token })
      reportOutages(client, this.#cli.terminal)
      return client
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      const next = this.#cli.env['BERTH_URL'] ? 'set BERTH_URL' : `"berth context rm ${context}" removes it`
      throw usageError(error.message, next)
    }
  }

  #createProgram = (): Command => createProgram(this.#cli, this.#named, this.#host)

  /** Returns the called command, for messages. */
  #named = (): string =>
    findCommandPath(this.#createProgram(), this.#words)
      .map((each) => each.name())
      .join(' ')

  #report(error: unknown): number {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    const { say } = this.#cli.terminal
    const stop = error instanceof RequestFailed ? createStopForFailure(error) : error
    if (stop instanceof Stop) {
      const next = stop.next ?? this.#findHelp(stop)
      const message = next === undefined ? stop.message : stop.message.replace(/\.$/, '')
      say(`berth: ${[message, next].filter(Boolean).join('; ').replaceAll('\n', ' ')}`)
      return stop.exitCode
    }
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
    for (const line of `berth: ${trace}`.split('\n')) say(line)
    return exitCodes.unexpected
  }

  /** Returns a hint to the help of the command if a usage error names no next step. */
  #findHelp({ exitCode, message }: Stop): string | undefined {
    const isAlone = exitCode === exitCodes.usage && !/Did you mean|; /.test(message)
    return isAlone ? `see "${this.#named()} --help"` : undefined
  }

  /** On a terminal, prompts for a job if the argument is missing. */
  async #parseOrPick(): Promise<void> {
    const program = this.#createProgram()
    const commands = findCommandPath(program, this.#words)
    const pick = async () => {
      const id = await pickJob(this.#cli)
      const at = commands.length - 1
      this.#words = [...this.#words.slice(0, at), id, ...this.#words.slice(at)]
      await parse(this.#createProgram(), this.#words)
    }
    try {
      if (this.#cli.ask && this.#isJobMissing(commands)) return await pick()
      await parse(program, this.#words)
    } catch (error) {
      if (!this.#cli.ask || !(error instanceof MissingJob)) throw error
      await pick()
    }
  }

  #isJobMissing(commands: readonly Command[]): boolean {
    const [argument] = commands.at(-1)?.registeredArguments ?? []
    const rest = this.#words.slice(commands.length - 1)
    if (!argument?.required || argument.name() !== 'job' || rest.includes('--help') || rest.includes('-h')) return false
    // Uses a separate program, because parsing stores option values in it.
    return findCommandPath(this.#createProgram(), this.#words).at(-1)?.parseOptions(rest).operands.length === 0
  }
}

/** Reports unknown words that Commander ignores: after a group with a default command, and after `help`. */
async function parse(program: Command, words: readonly string[]): Promise<void> {
  const [first, second = ''] = words
  const isIn = ({ commands }: Command, word: string) => commands.some((each) => each.name() === word)
  const group = program.commands.find((each) => each.name() === first && each.commands.length > 0)
  const takesNames = ['artifact', 'backup'].includes(group?.name() ?? '')
  if (group && !takesNames && /^[^-]/.test(second) && second !== 'help' && !isIn(group, second)) {
    const names = group.commands.map((each) => each.name()).join(', ')
    throw usageError(`unknown command '${first} ${second}'`, `the commands of ${first} are ${names}`)
  }
  demandValue(program, words)
  const isUnknownHelp = first === 'help' && second !== '' && !isIn(program, second)
  await program.parseAsync(isUnknownHelp ? words.slice(1) : words, { from: 'user' })
}

/** Refuses an option without a value before "--", because Commander would take the "--" for the value. */
function demandValue(program: Command, words: readonly string[]): void {
  const flag = words[words.indexOf('--') - 1]
  if (flag === undefined) return
  const option = findOption(findCommandPath(program, words).at(-1) ?? program, flag)
  if (option?.required) throw usageError(`option '${option.flags}' has no value`, 'write its value before "--"')
}
