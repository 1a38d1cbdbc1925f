import { expect, it } from 'vitest'
import { describeEstimate } from '../../web/features/jobs/rows/describe-estimate.ts'
import type { Spec } from '../../web/features/spec/spec-input.ts'
import { type JobGraph, listSide, readGraph } from '../../web/pages/job/graph/graph-data.ts'
import { describeOutcome } from '../../web/pages/job/outcome.ts'
import type { Phase } from '../../web/pages/job/timeline/phases.ts'
import { mergeMarks, placeOf, scalePhases } from '../../web/pages/job/timeline/timeline-scale.ts'
import { type FitNode, judgeNodes } from '../../web/pages/job/waiting/node-fit.ts'
import { listProposals } from '../../web/pages/job/waiting/proposals.ts'
import { findRemedy } from '../../web/pages/job/waiting/remedies.ts'

const gib = 1024 ** 3
const minuteMs = 60_000

const resources = { cpu: 4, memoryBytes: 16 * gib, gpu: 4, gpuModel: [], gpuMemoryBytes: null }
const spec = {
  queue: 'gpu',
  resources,
  maxRunTimeSeconds: 7_200,
  preemptable: false,
  interactive: false,
} as unknown as Spec

const phase = (state: Phase['state'], from: number, to: number | null): Phase => ({
  state,
  run: 1,
  fromMs: from * minuteMs,
  toMs: to === null ? null : to * minuteMs,
})

it('scalePhases widens short phases, and gives the remaining time at most half of the axis', () => {
  const phases = [phase('QUEUED', 0, 1), phase('RUNNING', 1, null)]
  const segments = scalePhases(phases, { nowMs: 100 * minuteMs, limitMs: 100_000 * minuteMs })
  expect(segments.map(({ phase: shown }) => shown?.state)).toEqual(['QUEUED', 'RUNNING', undefined])
  expect(segments[0]?.width).toBeGreaterThanOrEqual(0.05)
  expect(segments[2]?.width).toBeLessThanOrEqual(0.5)
  expect(segments.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1)
})

it('placeOf returns the position of a time on the axis', () => {
  const segments = scalePhases([phase('RUNNING', 0, 10)], { nowMs: 0, limitMs: null })
  expect(placeOf(segments, 5 * minuteMs)).toBeCloseTo(0.5)
  expect(placeOf(segments, 11 * minuteMs)).toBeNull()
})

it('mergeMarks merges marks that would overlap', () => {
  const mark = (place: number, text: string) => ({ place, atMs: place, texts: [text] })
  const merged = mergeMarks([mark(0.5, 'b'), mark(0.1, 'a'), mark(0.51, 'c')], 0.03)
  expect(merged.map(({ texts }) => texts)).toEqual([['a'], ['b', 'c']])
})

const ended = {
  state: 'FAILED',
  stateReason: 'EXIT_CODE',
  exitCode: 3,
  finishedAt: '2026-11-24T12:10:00Z',
  attempt: 1,
  currentRun: { nodeNames: ['gpu3'], startedAt: '2026-11-24T12:00:00Z' },
} as const
const limits = { memoryBytes: 16 * gib, maxRunTimeSeconds: 7_200 }

it.each([
  [{}, 'Failed on gpu3 after 10 min: exit code 3.'],
  [{ stateReason: 'SIGNAL', exitCode: 137 }, 'Failed on gpu3 after 10 min: killed by signal 9 (KILL).'],
  [
    { stateReason: 'OOM_KILLED', exitCode: 137, attempt: 2 },
    'Failed on gpu3 after 10 min in run 2: killed because it needed more memory than 16 GiB, exit code 137, signal 9 (KILL).',
  ],
  [{ stateReason: 'MAX_RUN_TIME', exitCode: null }, 'Failed on gpu3 after 10 min: stopped at its limit of 2 h 00 min.'],
  [
    { state: 'CANCELLED', stateReason: 'CANCELLED', exitCode: null, currentRun: { nodeNames: [], startedAt: null } },
    'Cancelled before it started.',
  ],
] as const)('the end of a job with %j is described as: %s', (change, sentence) => {
  expect(describeOutcome({ ...ended, ...change }, limits)).toBe(sentence)
})

it('findRemedy returns the change that would have helped', () => {
  const memory = findRemedy('OOM_KILLED', spec)
  expect(memory?.text).toBe('32 GiB of memory')
  expect(memory?.change({ resources: { cpu: 4, memoryBytes: 5 } })).toEqual({ resources: { cpu: 4, memoryGib: 32 } })
  const time = findRemedy('MAX_RUN_TIME', spec)
  expect(time?.change({}).maxRunTimeSeconds).toBe(14_400)
  expect(findRemedy('EXIT_CODE', spec)).toBeNull()
})

it('listProposals proposes at most six changes, each with fewer resources or another queue', () => {
  const texts = listProposals(spec, [{ name: 'gpu' }, { name: 'short' }]).map(({ text }) => text)
  expect(texts).toEqual(['2 GPU', '1 GPU', 'limit 1 h 00 min', '2 cores', '8 GiB of memory', 'preemptable'])
  const little = { ...spec.resources, gpu: 0, cpu: 1, memoryBytes: gib }
  const small = { ...spec, resources: little, maxRunTimeSeconds: 60 }
  expect(listProposals(small, [{ name: 'gpu' }, { name: 'short' }]).map(({ text }) => text)).toEqual([
    'preemptable',
    'queue short',
  ])
})

const node = (name: string, busy: readonly boolean[], state: FitNode['state'] = 'READY'): FitNode => ({
  name,
  state,
  capacity: { cpu: 16, memoryBytes: 64 * gib },
  free: { cpu: 16, gpu: busy.filter((each) => !each).length },
  gpus: busy.map((allocated) => ({ model: 'Tesla V100', memoryBytes: 32 * gib, allocated })),
})

it('judgeNodes compares a job with the capacity of the nodes, and counts their free GPUs', () => {
  const nodes = [
    node('a', [true, true, false, false]),
    node('b', [false]),
    node('c', [false, false, false, false], 'CORDONED'),
  ]
  expect(judgeNodes(nodes, resources)).toEqual({ fitting: ['a'], free: 3, largest: 2 })
  expect(judgeNodes(nodes, { ...resources, gpuModel: ['!v100'] })).toEqual({ fitting: [], free: 0, largest: 0 })
})

/** Makes a reader of jobs with these dependencies. */
const readFrom = (edges: readonly (readonly [string, string])[]) => {
  const box = (id: string) => ({ id, name: id, state: 'QUEUED' as const, user: { id: 'u', name: 'ann' } })
  return async (ids: readonly string[]) =>
    ids.map((id) => {
      const after = edges.filter(([from]) => from === id).map(([, to]) => box(to))
      const before = edges.filter(([, to]) => to === id).map(([from]) => from)
      return {
        ...box(id),
        dependencies: before.map((each) => ({ on: 'SUCCEEDED' as const, satisfied: null, job: box(each) })),
        dependents: { totalCount: after.length, nodes: after },
      }
    })
}

it('readGraph reads all dependencies and dependents of a job, but not those of other jobs', async () => {
  const edges = [
    ['a', 'b'],
    ['b', 'c'],
    ['a', 'x'],
    ['c', 'd'],
    ['y', 'd'],
  ] as const
  const graph = (await readGraph('b', readFrom(edges))) as JobGraph
  expect([...graph.boxes.keys()].toSorted()).toEqual(['a', 'b', 'c', 'd'])
  expect(listSide(graph, 'b', 'BEFORE')).toEqual(['a'])
  expect(listSide(graph, 'b', 'AFTER')).toEqual(['c', 'd'])
})

it('readGraph limits the number of jobs, and counts those that it leaves out', async () => {
  const edges = Array.from({ length: 500 }, (_, i) => ['a', `b${i}`] as const)
  const graph = (await readGraph('a', readFrom(edges))) as JobGraph
  expect(graph.boxes.size).toBe(300)
  expect(graph.folded.get('a')).toBe(201)
})

it.each([
  { p50: 14, p90: 15, earliest: 13, words: '14:00–15:00' },
  { p50: 14, p90: null, earliest: 13, words: '14:00' },
  { p50: null, p90: null, earliest: 13, words: 'from 13:00' },
  { p50: null, p90: null, earliest: 12, words: null },
  { p50: null, p90: null, earliest: null, words: null },
])('a start estimate of p50 $p50, p90 $p90 and earliest $earliest is shown as $words', ({ words, ...hours }) => {
  const at = (hour: number | null) => hour && new Date(2026, 10, 24, hour).toISOString()
  const estimate = { p50: at(hours.p50) || null, p90: at(hours.p90) || null, earliest: at(hours.earliest) || null }
  expect(describeEstimate(estimate, new Date(2026, 10, 24, 12).getTime())).toBe(words)
})
