import { spawnSync } from 'node:child_process'
import { emitKeypressEvents } from 'node:readline'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { exitCodes, usageError } from './frame/exit.ts'
import { runCommand } from './frame/run-command.ts'
import type { SessionTerminal } from './frame/stdio.ts'
import { sanitizeText } from './frame/terminal.ts'
import { decodeUtf8 } from './reading/yaml.ts'
import type { KeyPress } from './showing/top-view.ts'

/** The program `berth`. Commands get a `Cli` and end with an exit code of exit.ts. */

const { env, stdout, stderr, stdin } = process

/** Also listens to signals, because they end a process without the event `exit`. */
function onExit(callback: () => void): void {
  process.once('exit', callback)
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(signal, () => process.exit(code))
}

/** Reads keys in raw mode, in which Ctrl-C arrives as a key. */
function readKeys(onKey: (key: KeyPress) => void): () => void {
  const listen = (_text: string | undefined, key: KeyPress) => onKey(key)
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.on('keypress', listen).resume()
  return () => {
    stdin.setRawMode(false)
    stdin.off('keypress', listen).pause()
  }
}

function onInterrupt(callback: () => void): () => void {
  process.on('SIGINT', callback)
  return () => void process.off('SIGINT', callback)
}

const sessionTerminal: SessionTerminal = {
  size: () => ({ columns: stdout.columns, rows: stdout.rows }),
  onResize(callback) {
    const tell = () => callback(sessionTerminal.size())
    stdout.on('resize', tell)
    return () => void stdout.off('resize', tell)
  },
  setRaw() {
    const restore = () => void stdin.setRawMode(false)
    stdin.setRawMode(true)
    // Raw mode in Node still adds CR to LF, so stty switches this off. `restore` undoes it, too.
    spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
    onExit(restore)
    return restore
  },
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

const questions =
  stdin.isTTY && stderr.isTTY
    ? {
        ask: async (text: string) => /^y(es)?$/i.test(await ask(`${text} [y/N] `)),
        askSecret: (text: string) => ask(text, true),
      }
    : { ask: null, askSecret: null }

/** The launcher `berth` passes arguments and NODE_OPTIONS so that Node does not interpret them. */
function readWords(argv: string[]): string[] {
  if (argv[0] !== ':') return argv
  const { BERTH_NODE_OPTIONS: options } = env
  delete env['BERTH_NODE_OPTIONS']
  if (options !== undefined) env['NODE_OPTIONS'] = options
  return argv.slice(1).map((word) => word.slice(1))
}

function currentDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw usageError('the current directory was removed', 'change to another directory')
  }
}

const say = (line: string) => stderr.write(`berth: ${sanitizeText(line)}\n`)

/** Writing fails if the reader closes the pipe, like `| head`, or if the disk is full. */
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok)
  say(`cannot write the output: ${error.message}`)
  process.exit(exitCodes.unexpected)
})
stderr.on('error', () => undefined)

const host = {
  ...{ env, stdout, stderr, onExit },
  get cwd() {
    return currentDirectory()
  },
  onInterrupt: (callback: () => void) =>
    void process.once('SIGINT', () => {
      callback()
      process.exit(exitCodes.detached)
    }),
  stdio: () => ({ stdin, stdout, stderr, onInterrupt, terminal: stdin.isTTY && stdout.isTTY ? sessionTerminal : null }),
  readStdin: async () => decodeUtf8(await buffer(stdin), 'stdin'),
  becomeProgram: (args: readonly string[], variables: NodeJS.ProcessEnv) =>
    process.execve?.(process.execPath, [process.execPath, ...args], variables),
  readKeys: stdin.isTTY ? readKeys : null,
  ...questions,
}

const words = readWords(process.argv.slice(2))
if (typeof WebSocket === 'undefined') {
  say(`Berth needs Node 22.22 or newer; this is ${process.version}; install a newer Node`)
  process.exitCode = exitCodes.usage
} else process.exitCode = await runCommand(words, host)
