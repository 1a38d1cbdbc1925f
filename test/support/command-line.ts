import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './sources.ts'
import { until } from './until.ts'

/** The command `berth` in processes of their own, with a folder for their files. */

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A command that is running. */
export interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** The first match in the output. */
  find(pattern: RegExp): Promise<RegExpExecArray>
}

/** Commands of a failed test, ended with the test process. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill()
})

const main = join(root, 'src/cli/main.ts')

interface Options {
  env?: Record<string, string>
}

export class CommandLine {
  readonly home: string
  constructor(home: string) {
    this.home = home
  }

  start(args: readonly string[], { input = '', ...options }: Options & { input?: string } = {}): Running {
    const command = this.#spawn(process.execPath, [main, ...args], options)
    command.child.stdin?.end(input)
    return command
  }

  /** On a terminal of 100 columns, which `script` makes; all of its output is on stdout, and its stdin stays open. */
  startOnTerminal(args: readonly string[], options?: Options): Running {
    const command = ['stty cols 100 rows 30;', 'exec', process.execPath, main, ...args].join(' ')
    return this.#spawn('script', ['-qec', command, '/dev/null'], options)
  }

  run(args: readonly string[], options?: Options & { input?: string }): Promise<Ended> {
    return this.start(args, options).ended
  }

  #spawn(file: string, args: readonly string[], { env = {} }: Options = {}): Running {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const own = { PATH, NODE_COMPILE_CACHE, HOME: this.home, XDG_CONFIG_HOME: join(this.home, 'config') }
    const child = spawn(file, args, { cwd: this.home, env: { ...own, ...env } })
    running.add(child)
    child.once('exit', () => running.delete(child))
    const written = { stdout: '', stderr: '' }
    child.stdout.on('data', (data) => (written.stdout += data))
    child.stderr.on('data', (data) => (written.stderr += data))
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...written })))
    const find = (pattern: RegExp) => {
      const look = () => {
        const found = pattern.exec(`${written.stdout}${written.stderr}`)
        if (!found && child.exitCode !== null) throw new Error(`${args.join(' ')} wrote only: ${written.stderr}`)
        return found
      }
      return until(look, { what: `${pattern} in: ${args.join(' ')}` })
    }
    return { child, ended, find }
  }
}
