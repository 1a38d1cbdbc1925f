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
  /** The output so far. */
  output(): string
  /** Stops it as a signal does, by default TERM, and waits for the end. Returns the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export interface BerthOptions {
  dataDir: string
  /** Default: a free one. */
  port?: number
  env?: Record<string, string>
  args?: readonly string[]
}

/** The environment of a server, and nothing else of the test's. */
export function environmentOf({ dataDir, env = {} }: BerthOptions, port: number): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const own = { BERTH_DATA_DIR: dataDir, BERTH_PORT: String(port), BERTH_LOG_LEVEL: 'warn' }
  return { PATH: readable(PATH), HOME, NODE_COMPILE_CACHE, ...own, ...env }
}

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

/**
 * Starts a server in this process. One in a process of its own (`startBerthProcess`) takes 2.6 s of processor time until
 * it is ready: only tests that kill, freeze or measure it need that.
 */
export async function startBerth(options: BerthOptions): Promise<BerthServer> {
  const { port = await freePort(), args = [] } = options
  let output = ''
  const keep = {
    write(text: string) {
      output += text
    },
  }
  const config = loadConfig({ argv: args, env: environmentOf(options, port), readFile: readText })
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
