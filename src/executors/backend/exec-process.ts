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

interface ProcessOptions {
  hasTerminal: boolean
  /** The beginning of a command line that switches to the account of the job. */
  toAccount: readonly string[]
  /** The signals that end the command. */
  endSignals: readonly NodeJS.Signals[]
}

/** The child leads a process group. With a terminal its descriptor 3 is a pipe (`inTerminal`). */
export function toExecProcess(
  child: ChildProcess,
  { hasTerminal, toAccount, endSignals }: ProcessOptions,
): ExecProcess & { stderr: Readable } {
  const [stdin, stdout, stderr, named] = child.stdio as unknown as [Writable, Readable, Readable, Readable | null]
  let terminal = ''
  let wanted: TerminalSize | null = null
  let isOver = false
  const exitCode = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
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
  if (hasTerminal)
    named?.setEncoding('utf8').on('data', (text: string) => {
      terminal = (terminal + text).slice(0, 64)
      if (wanted) void resize(wanted)
    })
  for (const stream of [stdin, stdout, stderr, named]) stream?.on('error', () => undefined)
  const send = (signal: NodeJS.Signals) => {
    try {
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, signal)
    } catch {
      // The command has just ended, or has become that of another account.
    }
  }
  return {
    stdin,
    stdout,
    stderr,
    exitCode,
    resize,
    signal: (name) => {
      if (Object.hasOwn(constants.signals, `SIG${name}`)) send(`SIG${name}` as NodeJS.Signals)
    },
    end: () => {
      for (const signal of endSignals) send(signal)
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
    },
  }
}
