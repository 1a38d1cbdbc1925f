import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { withTemplate } from './database-stage.ts'
import type { Result } from './simulation.ts'

/**
 * `npm run simulate -- --seeds 10000 --steps 2000 --workers 2`, or `--seed 42` to repeat one seed. With --database the
 * same seeds run over PostgreSQL.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    steps: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    database: { type: 'boolean', default: false },
    /** Continues after a seed that violates an invariant. */
    all: { type: 'boolean', default: false },
  },
})

const steps = Number(values.steps)
const first = Number(values.seed ?? values.from)
const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first
const totals = { seeds: 0, steps: 0, starts: 0, evictions: 0, rests: 0, broken: 0 }
const tellEveryMs = 10_000
const began = performance.now()
let toldMs = began

const print = (line: string) => void process.stdout.write(`${line}\n`)

function count({ seed, broken, ...done }: Result): void {
  totals.seeds += 1
  for (const what of ['steps', 'starts', 'evictions', 'rests'] as const) totals[what] += done[what]
  if (broken) {
    totals.broken += 1
    print(`Seed ${seed}, step ${broken.step}:\n${broken.what.map((line) => `  ${line}`).join('\n')}`)
    print(`Last happenings, the newest below:\n${broken.last.map((each) => `  ${JSON.stringify(each)}`).join('\n')}`)
    print(`Again: npm run simulate -- ${values.database ? '--database ' : ''}--seed ${seed} --steps ${broken.step}`)
  }
  if (performance.now() - toldMs > tellEveryMs) tell()
}

function tell(): void {
  toldMs = performance.now()
  const rate = totals.seeds / ((toldMs - began) / 1_000)
  const left = (last - first + 1 - totals.seeds) / rate
  const { seeds, starts, evictions, broken } = totals
  print(
    `${seeds} seeds, ${totals.steps} steps, ${starts} starts, ${evictions} evictions, ${totals.rests} rests, ${broken} broken; ${rate.toFixed(1)} seeds/s, ${Math.round(left)} s left`,
  )
}

const workers = Math.min(Number(values.workers), last - first + 1)
const over = new AbortController()
const failures: Error[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort())

/** Plays all seeds. Returns after every worker has ended, even if one fails, so the database can be removed. */
async function playAll(templateUrl: string | null): Promise<void> {
  if (over.signal.aborted) return
  await Promise.all(Array.from({ length: workers }, (_, worker) => play(worker, templateUrl)))
}

/** Plays every n-th seed in a worker. Returns after the worker has ended. */
function play(worker: number, templateUrl: string | null): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const playing = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: { first: first + worker, last, every: workers, steps, templateUrl },
  })
  over.signal.addEventListener('abort', () => void playing.terminate())
  playing.on('message', (result: Result) => {
    if (over.signal.aborted) return
    count(result)
    if (result.broken && !values.all) over.abort()
  })
  playing.on('error', (error) => {
    failures.push(error)
    over.abort()
  })
  playing.on('exit', () => resolve())
  return promise
}

await (values.database ? withTemplate(playAll) : playAll(null))
tell()
for (const { stack } of failures) print(`A worker failed: ${stack}`)
process.exitCode = totals.broken > 0 || totals.seeds <= last - first ? 1 : 0
