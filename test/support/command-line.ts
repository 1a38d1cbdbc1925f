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
  /** The first match in what the command wrote to stderr. */
  find(pattern: RegExp): Promise<RegExpExecArray>
}

/** Commands of a failed test, ended with the test process. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill()
})

export class CommandLine {
  readonly home: string
  constructor(home: string) {
    this.home = home
  }

  start(
    args: readonly string[],
    { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
  ): Running {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const own = { PATH, NODE_COMPILE_CACHE, HOME: this.home, XDG_CONFIG_HOME: join(this.home, 'config') }
    const child = spawn(process.execPath, [join(root, 'src/cli/main.ts'), ...args], { env: { ...own, ...env } })
    running.add(child)
    child.once('exit', () => running.delete(child))
    const written = { stdout: '', stderr: '' }
    child.stdout.on('data', (data) => (written.stdout += data))
    child.stderr.on('data', (data) => (written.stderr += data))
    child.stdin.end(input)
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...written })))
    const find = (pattern: RegExp) => {
      const look = () => {
        const found = pattern.exec(written.stderr)
        if (!found && child.exitCode !== null) throw new Error(`${args.join(' ')} wrote only: ${written.stderr}`)
        return found
      }
      return until(look, { what: `${pattern} in: ${args.join(' ')}` })
    }
    return { child, ended, find }
  }

  run(args: readonly string[], options?: { env?: Record<string, string>; input?: string }): Promise<Ended> {
    return this.start(args, options).ended
  }
}
