import { randomInt } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter } from 'node:path'
import { readText } from '../../src/config/read-text.ts'
import { loadConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { runBerth } from '../../src/server.ts'
import { checkLeaks } from './leaks.ts'

/** A whole Berth server, for tests and benchmarks. */
export interface BerthServer {
  readonly url: string
  output(): string
  /** Sends a signal, by default TERM, and waits for the end. Returns the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export interface BerthOptions {
  dataDir: string
  /** Default: a free port. */
  port?: number
  env?: Record<string, string>
  args?: readonly string[]
}

/** The environment of a server, without other variables of the test. */
export function makeEnvironment({ dataDir, env = {} }: BerthOptions, port: number): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const own = { BERTH_DATA_DIR: dataDir, BERTH_PORT: String(port), BERTH_LOG_LEVEL: 'warn' }
  return { PATH: readable(PATH), HOME, NODE_COMPILE_CACHE, ...own, ...env }
}

/** Folders of the PATH that this account can read, because a server logs a line for each other folder. */
const readable = (path: string) => path.split(delimiter).filter(isReadable).join(delimiter)

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Starts a server in this process. A separate process (`startBerthProcess`) takes 2.6 s of processor time until it is
 * ready: only tests that kill, freeze or measure it need that.
 */
export async function startBerth(options: BerthOptions): Promise<BerthServer> {
  const { port = await freePort(), args = [] } = options
  let output = ''
  const keep = {
    write(text: string) {
      output += text
    },
  }
  const config = loadConfig({ argv: args, env: makeEnvironment(options, port), readFile: readText })
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  const greet = (text: string) => {
    keep.write(text)
    ready.resolve()
  }
  const log = createLog(config.logLevel, { destination: keep })
  const exitCode = runBerth(config, { stdout: { write: greet }, stderr: keep, log, signal: stopping.signal })
  const failed = await Promise.race([ready.promise, exitCode])
  if (failed !== undefined) throw new Error(`The server ended with ${failed}:\n${output}`)
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    async end(signal = 'SIGTERM') {
      stopping.abort(signal)
      const code = await exitCode
      checkLeaks(output, options)
      return code
    },
  }
}

/**
 * Finds a port for a server that starts later. The system assigns ports below 32,768 only on request, so no other test
 * gets the port meanwhile.
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
