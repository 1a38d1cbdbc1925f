import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Inside } from '../client/jobs/inside.ts'
import type { Handler, JobContext, Json } from './define-job.ts'
import { createReports } from './reports.ts'
import { createUnsent } from './unsent.ts'

/**
 * The process of a run of the executor `handler`: `node host.ts MODULE`. It uses only the API of the server, so it
 * outlives the server, and waits for it before it ends.
 *
 * Exit codes: 0 returned · 1 threw · 143 threw after TERM · 119 onResume threw (src/executors/handler) · 126 not a
 * handler · 127 module not found.
 */

const exitCodes = { returned: 0, threw: 1, resumeFailed: 119, noHandler: 126, notFound: 127, terminated: 143 } as const

const aliveMs = 3_600_000

const { env, argv, stdout, stderr } = process
/** Makes writes to a full pipe blocking. By default Node writes later, and `process.exit` drops pending output. */
function makeBlocking(stream: NodeJS.WriteStream): void {
  const { _handle: pipe } = stream as { _handle?: { setBlocking?(isBlocking: boolean): void } }
  pipe?.setBlocking?.(true)
}

const complain = (text: string) => void stderr.write(`berth: ${text}\n`)

async function main(): Promise<number> {
  for (const stream of [stdout, stderr]) makeBlocking(stream)
  const path = resolve((argv[2] ?? '').replace(/^~(?=\/)/, env['HOME'] ?? '/'))
  const handler = await load(path)
  if (typeof handler === 'number') return handler
  const reports = createReports(openInside, complain, createUnsent(env['BERTH_UNSENT_CLOSURE'], complain))
  const context = { ...(await readFacts()), ...reports, log: (line: string) => void stdout.write(`${line}\n`) }
  // Keeps the process alive: Node would end a process that only waits for TERM.
  const alive = setInterval(() => undefined, aliveMs)
  const code = await runHandler(handler, context)
  clearInterval(alive)
  await reports.settled()
  return code
}

/** Connects at the first report: a handler without reports starts five times as fast. */
async function openInside(): Promise<Inside> {
  const { createInside } = await import('../client/jobs/inside.ts')
  const { openConnection } = await import('../client/connection/connection.ts')
  const connection = openConnection({ url: env['BERTH_URL'] ?? '', token: env['BERTH_TOKEN'] })
  // The wait for an unreachable server ends only with the limits of the run.
  return createInside(connection, {
    patienceMs: Number.POSITIVE_INFINITY,
    sleep: (ms) => sleep(ms),
    monotonicMs: () => performance.now(),
  })
}

async function readFacts() {
  const ending = new AbortController()
  // `on`, not `once`: without a listener, a second TERM would kill a handler that is ending.
  process.on('SIGTERM', () => ending.abort(new Error('The run must end')))
  return {
    jobId: env['BERTH_JOB_ID'] ?? '',
    run: Number(env['BERTH_RUN']),
    input: (await readJson('BERTH_INPUT')) ?? {},
    closure: await readJson('BERTH_CLOSURE'),
    signal: ending.signal,
  }
}

/** Reads the JSON object in the file that the variable names. Returns null if the variable is not set. */
async function readJson(variable: string): Promise<Json | null> {
  const path = env[variable]
  return path ? (JSON.parse(await readFile(path, 'utf8')) as Json) : null
}

async function load(path: string): Promise<Handler | number> {
  const url = pathToFileURL(path).href
  const loaded = await import(url).catch((error: NodeJS.ErrnoException & { url?: string }) => {
    const isMissing = error.code === 'ERR_MODULE_NOT_FOUND' && error.url === url
    complain(isMissing ? `module not found: ${path}` : `cannot load ${path}: ${error.stack ?? error}`)
    return isMissing ? exitCodes.notFound : exitCodes.noHandler
  })
  if (typeof loaded === 'number') return loaded
  if (typeof loaded.default?.run === 'function') return loaded.default as Handler
  complain(`${path} has no default export with a function run; export default defineJob({ run })`)
  return exitCodes.noHandler
}

async function runHandler(handler: Handler, context: JobContext): Promise<number> {
  const { input, closure, signal } = context
  const resumes = closure !== null && handler.onResume !== undefined
  try {
    await (resumes ? handler.onResume?.(closure, context) : handler.run(input, context))
    return exitCodes.returned
  } catch (error) {
    stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    if (signal.aborted) return exitCodes.terminated
    return resumes ? exitCodes.resumeFailed : exitCodes.threw
  }
}

// Exits although the handler may have left timers and sockets, which would keep the run alive.
process.exit(await main())
