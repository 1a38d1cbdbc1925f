import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { type AccountRules, findAccount, switchToAccount } from '../accounts/account.ts'
import { type ExecOrder, type ExecProcess, SessionRefused, StartFailed, type TerminalSize } from '../executor.ts'
import { carryEnvironment, type Environment, escapeAssignment } from '../process/environment.ts'
import { loginShell, quoteWord } from '../process/scripts.ts'
import type { Journal } from './journal.ts'
import { runIdVariable } from './launch.ts'
import { findProcess } from './processes.ts'
import { enterScript, shell, workdirScript } from './shell.ts'

/**
 * Runs a command in a running job of this machine: in its cgroups, with its account, and with the environment and the
 * directory of its first process. `script` of util-linux gives it a terminal. The size of that terminal is set by `stty`
 * as the account of the job, because the job could name another terminal.
 */

const script = ['/usr/bin/script', '/bin/script'].find((path) => existsSync(path))
const terminalName = /^\/dev\/pts\/\d+$/
/** Reports its terminal at descriptor 3. `script` starts it without echo, because its own input is a pipe. */
const terminalScript = `tty >&3
stty rows "$1" cols "$2" echo
shift 2
exec 3>&-
exec "$@"`
const notHere = () => new SessionRefused('The run has no process on this machine')

interface ExecOptions {
  runId: string
  journal: Journal | null
  bootId: string
  accounts: AccountRules
}

export async function execInRun(
  order: ExecOrder,
  { runId, journal, bootId, accounts }: ExecOptions,
): Promise<ExecProcess> {
  const leader = await findLeader(journal, bootId)
  const account = await findAccount(order.unixUser, accounts).catch((error: unknown) => {
    throw error instanceof StartFailed ? new SessionRefused(error.message, { cause: error }) : error
  })
  const { environment, step } = carryEnvironment(
    { ...(order.size && { TERM: 'xterm-256color' }), ...readEnvironment(leader.pid) },
    [],
  )
  const command = [...step, ...(order.command.length > 0 ? escapeAssignment(order.command) : loginShell)]
  const toAccount = switchToAccount(account)
  const argv = [
    ...[shell, '-c', enterScript, 'berth', leader.cgroups.join(' '), ...toAccount],
    ...[shell, '-c', workdirScript, 'berth', leader.directory],
    ...(order.size ? inTerminal(command, order.size) : command),
  ]
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    cwd: '/',
    // By this variable the processes of a run without a cgroup are found.
    env: { ...environment, [runIdVariable]: runId },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', order.size ? 'pipe' : 'ignore'],
  })
  child.on('error', () => undefined)
  // Without a free file descriptor the child has no streams.
  if (child.pid === undefined) throw new SessionRefused('The machine cannot start the command now')
  return toProcess(child, { hasTerminal: order.size !== null, toAccount })
}

function inTerminal(command: readonly string[], { columns, rows }: TerminalSize): string[] {
  if (!script)
    throw new SessionRefused('This machine has no program script (util-linux), which a terminal needs; use --no-tty')
  const words = [shell, '-c', terminalScript, 'berth', String(rows), String(columns), ...command]
  return [script, '-q', '-e', '-f', '-c', `exec ${words.map(quoteWord).join(' ')}`, '/dev/null']
}

async function findLeader(journal: Journal | null, bootId: string) {
  const { claim, session, exit, limited } = journal ?? {}
  if (!claim || !session || exit || claim.boot !== bootId) throw notHere()
  const seen = await findProcess(session.pid)
  if (seen?.born !== session.born) throw notHere()
  try {
    return {
      pid: seen.pid,
      directory: readlinkSync(`/proc/${seen.pid}/cwd`),
      cgroups: [claim.cgroup ?? [], limited ?? []].flat(),
    }
  } catch (cause) {
    throw new SessionRefused('The server may not read the directory of the job', { cause })
  }
}

/** The environment with which the process began; it may still be carried (carryEnvironment), for a command that follows. */
function readEnvironment(pid: number): Environment {
  const given = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  const isCarried = !given.some((each) => each.startsWith(`${runIdVariable}=`))
  const restored = isCarried ? given.flatMap((each) => /^_\d+=(.*)$/s.exec(each)?.[1] ?? []) : given
  const pairs = restored.map((each) => /^([^=]+)=(.*)$/s.exec(each))
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? '', pair[2] ?? '']] : [])))
}

function toProcess(
  child: ChildProcess,
  { hasTerminal, toAccount }: { hasTerminal: boolean; toAccount: string[] },
): ExecProcess {
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
  named?.setEncoding('utf8').on('data', (text: string) => {
    terminal = (terminal + text).slice(0, 64)
    if (wanted) void resize(wanted)
  })
  for (const stream of [stdin, stdout, stderr, named]) stream?.on('error', () => undefined)
  // What `script` itself writes there.
  if (hasTerminal) stderr.resume()
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
    stderr: hasTerminal ? null : stderr,
    exitCode,
    resize,
    signal: (name) => {
      if (Object.hasOwn(constants.signals, `SIG${name}`)) send(`SIG${name}` as NodeJS.Signals)
    },
    end: () => {
      send('SIGHUP')
      send('SIGKILL')
      for (const stream of [stdin, stdout, stderr]) stream.destroy()
    },
  }
}
