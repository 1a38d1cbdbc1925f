import { parseArgs } from 'node:util'
import type { Policy } from '../src/domain/lanes.ts'
import { BerthContender } from './contender.ts'
import { Conservative, type Contender, Easy } from './textbook.ts'
import { gpusPerNode, makeWork, type Work } from './workload.ts'

/**
 * `npm run simulate -- race` compares the planner with EASY and conservative backfill, on the same arrivals, in
 * simulated time. Prints a table in Markdown, with means over the seeds.
 */
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '4,16,128' },
    loads: { type: 'string', default: '0.7,0.85,0.95,1.1' },
    seeds: { type: 'string', default: '3' },
    jobs: { type: 'string', default: '1500' },
  },
})

interface Figures {
  meanSlowdown: number
  medianSlowdown: number
  meanWaitSeconds: number
  utilisation: number
}

/** Slowdowns of shorter jobs are computed as if the jobs ran this long. */
const shortestMs = 10_000
/** Conservative backfill plans nodes one by one, which takes too long for larger pools. */
const conservativeNodesMax = 16

function play(works: readonly Work[], nodes: number, contender: Contender): Figures {
  const startedMs = new Map<Work, number>()
  const arriving = [...works]
  const running: { work: Work; endsMs: number }[] = []
  const lastMs = works.at(-1)?.arrivesMs ?? 0
  while (startedMs.size < works.length) {
    const nowMs = Math.min(arriving[0]?.arrivesMs ?? Infinity, running[0]?.endsMs ?? Infinity)
    if (nowMs === Infinity) throw new Error(`${works.length - startedMs.size} jobs never start`)
    const ended = running.filter(({ endsMs }) => endsMs <= nowMs).map(({ work }) => work)
    running.splice(0, ended.length)
    contender.end(ended, nowMs)
    const arrived = arriving.filter(({ arrivesMs }) => arrivesMs <= nowMs)
    arriving.splice(0, arrived.length)
    contender.arrive(arrived, nowMs)
    for (const work of contender.start(nowMs)) {
      startedMs.set(work, nowMs)
      running.push({ work, endsMs: nowMs + work.runMs })
    }
    running.sort((a, b) => a.endsMs - b.endsMs)
  }
  return computeFigures(startedMs, { capacity: nodes * gpusPerNode, lastMs })
}

function computeFigures(
  startedMs: ReadonlyMap<Work, number>,
  { capacity, lastMs }: { capacity: number; lastMs: number },
): Figures {
  const waits = [...startedMs].map(([{ arrivesMs, runMs }, atMs]) => ({ waitMs: atMs - arrivesMs, runMs }))
  const slowdowns = waits.map(({ waitMs, runMs }) => Math.max(1, (waitMs + runMs) / Math.max(shortestMs, runMs)))
  const usedMs = [...startedMs].map(
    ([{ copies, gpus, runMs }, atMs]) => copies * gpus * Math.max(0, Math.min(lastMs, atMs + runMs) - atMs),
  )
  return {
    meanSlowdown: mean(slowdowns),
    medianSlowdown: slowdowns.toSorted((a, b) => a - b)[slowdowns.length >> 1] ?? Number.NaN,
    meanWaitSeconds: mean(waits.map(({ waitMs }) => waitMs)) / 1_000,
    utilisation: usedMs.reduce((sum, ms) => sum + ms, 0) / (capacity * lastMs),
  }
}

const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / of.length
const numbers = (list: string) => list.split(',').map(Number)
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1)

const contenders: Record<string, (nodes: number) => Contender | null> = {
  EASY: (nodes) => new Easy(nodes, gpusPerNode),
  conservative: (nodes) => (nodes > conservativeNodesMax ? null : new Conservative(nodes, gpusPerNode)),
  ...Object.fromEntries(
    (['PRIORITY', 'FAIR_SHARE'] satisfies Policy[]).map((policy) => [
      policy,
      (nodes: number) => new BerthContender(policy, nodes),
    ]),
  ),
}

const print = (...cells: readonly string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
print('nodes', 'load', 'rule', 'mean slowdown', 'median slowdown', 'mean wait', 'utilisation')
print('--:', '--:', '---', '--:', '--:', '--:', '--:')
for (const nodes of numbers(values.nodes))
  for (const load of numbers(values.loads))
    for (const [name, make] of Object.entries(contenders)) {
      const played = seeds.flatMap((seed) => {
        const contender = make(nodes)
        return contender ? [play(makeWork({ seed, nodes, load, jobs: Number(values.jobs) }), nodes, contender)] : []
      })
      if (played.length === 0) continue
      const figure = (of: keyof Figures) => mean(played.map((figures) => figures[of]))
      print(
        String(nodes),
        String(load),
        name,
        figure('meanSlowdown').toFixed(1),
        figure('medianSlowdown').toFixed(2),
        `${figure('meanWaitSeconds').toFixed(0)} s`,
        `${(100 * figure('utilisation')).toFixed(1)} %`,
      )
    }
