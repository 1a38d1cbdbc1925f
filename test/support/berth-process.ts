import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { findSecrets, readOpenFiles, secretsOf } from './leaks.ts'
import { root } from './sources.ts'
import { until } from './until.ts'

/** A Berth server in a separate process, for tests and benchmarks. */
export interface BerthProcess {
  readonly url: string
  readonly pid: number
  /** The output so far. */
  output(): string
  /** Sends a signal and waits for the end. Returns the exit code; null: the signal ended it. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export interface BerthOptions {
  dataDir: string
  port: number
  env?: Record<string, string>
  args?: readonly string[]
}

/** Processes to kill at the exit of the test process, in case a failed test did not end its servers. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  // A server that is frozen takes no other signal.
  for (const child of running) for (const signal of ['SIGCONT', 'SIGTERM'] as const) child.kill(signal)
})

/** On a busy machine a start takes a minute. */
const startMsMax = 180_000

/** Folders of the PATH that this account may read: a server logs a line for each other folder. */
const readable = (path: string) => path.split(delimiter).filter(isReadable).join(delimiter)

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Compiles WebAssembly once, to slower code, which saves a server of a test 0.6 s of processor time. */
const testFlags = process.env['VITEST'] ? ['--liftoff-only'] : []

/** The command that starts it, for tests that do not wait until it is ready. */
export function berthCommand({ dataDir, port, env = {}, args = [] }: BerthOptions) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const own = { BERTH_DATA_DIR: dataDir, BERTH_PORT: String(port), BERTH_LOG_LEVEL: 'warn' }
  return {
    file: process.execPath,
    args: [...testFlags, join(root, 'src/main.ts'), ...args],
    options: { cwd: dataDir, env: { PATH: readable(PATH), HOME, NODE_COMPILE_CACHE, ...own, ...env } },
  }
}

export async function startBerth(wanted: BerthOptions): Promise<BerthProcess> {
  const { file, args, options } = berthCommand(wanted)
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const url = `http://127.0.0.1:${wanted.port}`
  const ended = once(child, 'exit')
  const answers = () => {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}:\n${output}`)
    return isReady(url)
  }
  try {
    await until(answers, { what: `a server answers at ${url}`, timeoutMs: startMsMax })
  } catch (error) {
    await end(child, ended, 'SIGKILL')
    throw error
  }
  const close = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const code = await end(child, ended, signal)
    checkSecrets(output, wanted)
    return code
  }
  return { url, pid: child.pid ?? 0, output: () => output, end: close }
}

/** Whatever a test makes of a server: no secret gets into its log or into a file that others may read. */
function checkSecrets(output: string, { dataDir, env = {} }: BerthOptions) {
  const known = secretsOf(env)
  const leaks = findSecrets(output, known).map((secret) => `the log has ${secret}`)
  for (const { path, text } of readOpenFiles(dataDir))
    leaks.push(...findSecrets(text, known).map((secret) => `${path} has ${secret}`))
  if (leaks.length > 0) throw new Error(leaks.join('\n'))
}

async function end(child: ChildProcess, ended: Promise<unknown[]>, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await ended
  }
  return child.exitCode
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  )
}

/**
 * A port for a server that begins later. The system gives ports below 32,768 to no listener or connection that does not
 * ask for one, so no other test takes it in the meantime.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
