import { expect, test } from 'vitest'
import { Conservative, Easy } from '../simulate/textbook.ts'
import { gpusPerNode, makeWork, type Work } from '../simulate/workload.ts'

/** The rules that `npm run simulate -- race` compares the planner with. */

const work = (id: number, gpus: number, limitMs: number): Work => ({
  id,
  user: 'u',
  arrivesMs: 0,
  copies: 1,
  gpus,
  runMs: limitMs,
  limitMs,
})
const started = (of: readonly Work[]) => of.map(({ id }) => id)

test.each([
  ['EASY', Easy],
  ['conservative', Conservative],
])('%s backfill starts jobs that end before the first job starts, or leave its GPUs free', (_name, Rule) => {
  const rule = new Rule(1, 8)
  rule.arrive([work(1, 5, 100)])
  expect(started(rule.start(0))).toEqual([1])
  // The head is planned at 100 with 6 GPUs.
  rule.arrive([work(2, 6, 50), work(3, 2, 101), work(4, 1, 100), work(5, 1, 101)])
  expect(started(rule.start(0))).toEqual([3, 4])
})

test('conservative backfill delays no planned start; EASY backfill delays only those behind the first job', () => {
  // Planned: 2 at 100, with 2 GPUs left free, and 3 at 110.
  const works = [work(2, 6, 10), work(3, 8, 10), work(4, 2, 150)]
  const start = (rule: Easy | Conservative) => {
    rule.arrive([work(1, 5, 100)])
    rule.start(0)
    rule.arrive(works)
    return started(rule.start(0))
  }
  expect(start(new Easy(1, 8))).toEqual([4])
  expect(start(new Conservative(1, 8))).toEqual([])
})

test('the generated workload has the requested load, and each stated limit is above the run time', () => {
  const works = makeWork({ seed: 1, nodes: 4, load: 0.9, jobs: 500 })
  const askedMs = works.reduce((sum, { copies, gpus, runMs }) => sum + copies * gpus * runMs, 0)
  expect(askedMs / (4 * gpusPerNode * (works.at(-1)?.arrivesMs ?? 0))).toBeCloseTo(0.9, 3)
  expect(works.filter(({ runMs, limitMs }) => limitMs < runMs)).toEqual([])
})
