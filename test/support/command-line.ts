import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { runCommand } from '../../src/cli/frame/run-command.ts'
import type { Stdio } from '../../src/cli/frame/stdio.ts'
import { root } from './sources.ts'
import { until } from './until.ts'

/** The command `berth` with a folder for its files, in the test process or in a separate process. */

interface Written {
  stdout: string
  stderr: string
}

export interface Ended extends Written {
  code: number | null
}

/** A command that is running. */
export interface Running {
  /** The output so far. */
  written: Written
  ended: Promise<Ended>
  /** The first match in the output. */
  find(pattern: RegExp): Promise<RegExpExecArray>
}

/** Starts a command in a separate process. */
export interface RunningProcess extends Running {
  child: ChildProcess
}

/** Commands of failed tests, which are killed when the test process exits. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill()
})

const main = join(root, 'src/cli/main.ts')

interface Options {
  env?: Record<string, string>
  /** Width of the terminal; default: stdout is a pipe. */
  columns?: number
}

export class CommandLine {
  readonly home: string
  readonly #env: Readonly<Record<string, string>>
  constructor(home: string, env: Readonly<Record<string, string>> = {}) {
    this.home = home
    this.#env = env
  }

  readonly berth = (...args: string[]): Promise<Ended> => this.run(args)

  run(args: readonly string[], options?: Options & { input?: string }): Promise<Ended> {
    return this.begin(args, options).ended
  }

  /**
   * Runs a command that ends by itself in the test process, because a separate process takes half a second to start.
   */
  begin(args: readonly string[], { env, columns, input = '' }: Options & { input?: string } = {}): Running {
    const written = { stdout: '', stderr: '' }
    const code = runCommand(args, {
      ...{ env: this.#variables(env), cwd: this.home },
      ...{ stdout: collect(written, 'stdout', columns), stderr: collect(written, 'stderr') },
      stdio: () => openStdio(written, input),
      ...{ readStdin: async () => input, readKeys: null, ask: null, askSecret: null },
      ...{ onExit: () => undefined, onInterrupt: () => undefined },
      becomeProgram: () => {
        throw new Error(`berth ${args.join(' ')} needs a process of its own`)
      },
    })
    return observe(args, written, code)
  }

  start(args: readonly string[], { input = '', ...options }: Options & { input?: string } = {}): RunningProcess {
    const command = this.#spawn(process.execPath, [main, ...args], options)
    command.child.stdin?.end(input)
    return command
  }

  /** Starts a command on a terminal of 100 columns, made by `script`. All output is on stdout, and stdin stays open. */
  startOnTerminal(args: readonly string[], options?: Options): RunningProcess {
    const command = ['stty cols 100 rows 30;', 'exec', process.execPath, main, ...args].join(' ')
    return this.#spawn('script', ['-qec', command, '/dev/null'], options)
  }

  #spawn(file: string, args: readonly string[], { env }: Options = {}): RunningProcess {
    const child = spawn(file, args, { cwd: this.home, env: this.#variables(env) })
    running.add(child)
    child.once('exit', () => running.delete(child))
    const written = { stdout: '', stderr: '' }
    child.stdout.on('data', (data) => (written.stdout += data))
    child.stderr.on('data', (data) => (written.stderr += data))
    const code = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ...observe(args, written, code) }
  }

  #variables(env: Record<string, string> = {}): Record<string, string> {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const own = { PATH, NODE_COMPILE_CACHE, HOME: this.home, XDG_CONFIG_HOME: join(this.home, 'config') }
    return { ...own, ...this.#env, ...env }
  }
}

const openStdio = (written: Written, input: string): Stdio => ({
  stdin: Readable.from([Buffer.from(input)]),
  ...{ stdout: collect(written, 'stdout'), stderr: collect(written, 'stderr') },
  ...{ terminal: null, onInterrupt: () => () => undefined },
})

function collect(written: Written, name: keyof Written, columns?: number): Writable {
  const stream = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      written[name] += text
      done()
    },
  })
  return columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns })
}

function observe(args: readonly string[], written: Written, code: Promise<number | null>): Running {
  let isOver = false
  const ended = code.then((code) => {
    isOver = true
    return { code, ...written }
  })
  const find = (pattern: RegExp) => {
    const look = () => {
      const found = pattern.exec(`${written.stdout}${written.stderr}`)
      if (!found && isOver) throw new Error(`${args.join(' ')} wrote only: ${written.stdout}${written.stderr}`)
      return found
    }
    return until(look, { what: `${pattern} in: ${args.join(' ')}` })
  }
  return { written, ended, find }
}
