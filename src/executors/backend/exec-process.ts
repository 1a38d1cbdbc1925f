import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { type ExecProcess, SessionRefused, type TerminalSize } from '../executor.ts'
import { quoteWord } from '../process/scripts.ts'

/**
 * A command of a session as a child of the server. `script` of util-linux gives it a terminal. The size of that terminal is set by
 * `stty` as the account of the job, because the job could name another terminal.
 */

const script = ['/usr/bin/script', '/bin/script'].find((path) => existsSync(path))
const terminalName = /^\/dev\/pts\/\d+$/
/** Reports its terminal at descriptor 3. `script` starts it without echo, because its own input is a pipe. */
const terminalScript = `tty >&3
stty rows "$1" cols "$2" echo
shift 2
exec 3>&-
exec "$@"`

export function inTerminal(command: readonly string[], { columns, rows }: TerminalSize): string[] {
  if (!script)
    throw new SessionRefused('This machine has no program script (util-linux), which a terminal needs; use --no-tty')
  const words = ['/bin/sh', '-c', terminalScript, 'berth', String(rows), String(columns), ...command]
  return [script, '-q', '-e', '-f', '-c', `exec ${words.map(quoteWord).join(' ')}`, '/dev/null']
}

interface CommandOptions {
  env: Readonly<Record<string, string>>
  hasTerminal: boolean
  /** The beginning of a command line that switches to the account of the job. */
  toAccount: readonly string[]
  /** The signals that end the command. */
  endSignals: readonly NodeJS.Signals[]
  /** true: descriptor 4 of the child is a pipe. */
  hasLine?: boolean
}

interface StartedCommand {
  child: ChildProcess
  process: ExecProcess & { stderr: Readable }
}

/** Starts the command line as the leader of a process group. Throws SessionRefused. */
export function startCommand(argv: readonly string[], options: CommandOptions): StartedCommand {
  const { env, hasTerminal, toAccount, endSignals, hasLine = false } = options
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    cwd: '/',
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', hasTerminal ? 'pipe' : 'ignore', ...(hasLine ? ['pipe' as const] : [])],
  })
  child.on('error', () => undefined)
  // Without a free file descriptor the child has no streams.
  if (child.pid === undefined) throw new SessionRefused('The machine cannot start the command now')
  const [stdin, stdout, stderr, named] = child.stdio as unknown as [Writable, Readable, Readable, Readable | null]
  let terminal = ''
  let wanted: TerminalSize | null = null
  let isOver = false
  const exitCode = new Promise<number | null>((resolve) => {
    child.once('exit', (code, signal) => {
      isOver = true
      resolve(signal ? 128 + constants.signals[signal] : code)
    })
  })
  const resize = (size: TerminalSize) => {
    wanted = size
    if (isOver || !terminalName.test(terminal.trim())) return
    const words = [...toAccount, 'stty', '-F', terminal.trim(), 'rows', String(size.rows), 'cols', String(size.columns)]
    const setting = spawn(words[0] ?? '', words.slice(1), { stdio: 'ignore', cwd: '/' })
    return new Promise<void>((resolve) => setting.on('error', () => resolve()).on('exit', () => resolve()))
  }
  named?.setEncoding('utf8').on('data', (text: string) => {
    terminal = (terminal + text).slice(0, 64)
    if (wanted) void resize(wanted)
  })
  for (const stream of child.stdio) stream?.on('error', () => undefined)
  const send = (signal: NodeJS.Signals) => {
    try {
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, signal)
    } catch {
      // The command has just ended, or has become that of another account.
    }
  }
  const started = {
    stdin,
    stdout,
    stderr,
    exitCode,
    resize,
    signal: (name: string) => {
      if (Object.hasOwn(constants.signals, `SIG${name}`)) send(`SIG${name}` as NodeJS.Signals)
    },
    end: () => {
      for (const signal of endSignals) send(signal)
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
    },
  }
  return { child, process: started }
}
