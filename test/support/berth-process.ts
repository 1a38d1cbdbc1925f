import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type BerthOptions, type BerthServer, freePort, makeEnvironment } from './berth-server.ts'
import { checkLeaks } from './leaks.ts'
import { root } from './sources.ts'
import { until } from './until.ts'

/** Starts a Berth server as a separate process. If a signal ends it at once, its exit code is null. */
export interface BerthProcess extends BerthServer {
  readonly pid: number
}

/** Processes to kill when the test process exits, in case a failed test did not end its servers. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  // A frozen server handles no other signal.
  for (const child of running) for (const signal of ['SIGCONT', 'SIGTERM'] as const) child.kill(signal)
})

/** On a busy machine a start takes a minute. */
const startMsMax = 180_000

/** Compiles WebAssembly only once, to slower code, which saves 0.6 s of processor time per server. */
const testFlags = process.env['VITEST'] ? ['--liftoff-only'] : []

/** Starts the process without waiting until the server is ready. */
export async function berthCommand(options: BerthOptions) {
  const { dataDir, args = [], port = await freePort() } = options
  return {
    file: process.execPath,
    args: [...testFlags, join(root, 'src/main.ts'), ...args],
    options: { cwd: dataDir, env: makeEnvironment(options, port) },
  }
}

export async function startBerthProcess(wanted: BerthOptions): Promise<BerthProcess> {
  const { port = await freePort() } = wanted
  const { file, args, options } = await berthCommand({ ...wanted, port })
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const url = `http://127.0.0.1:${port}`
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
    checkLeaks(output, wanted)
    return code
  }
  return { url, pid: child.pid ?? 0, output: () => output, end: close }
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
