import { expect, it } from 'vitest'
import { createTerminal } from '../../src/cli/frame/terminal.ts'
import { type KeyPress, TopView } from '../../src/cli/showing/top-view.ts'
import type { WorkloadRowFragment } from '../../src/client/generated/graphql.ts'

const job = (id: string, name: string, user: string) => ({
  id,
  name,
  state: 'QUEUED',
  priority: 10,
  fairShare: null,
  position: 1,
  user: { id: user, name: user },
  currentRun: { id: 'run_1', nodeNames: [], gpuIds: [], startedAt: null },
  scheduling: { reasons: [], estimatedStart: null },
})
const queueOf = (...nodes: ReturnType<typeof job>[]) =>
  ({
    id: 'queue',
    at: '2026-01-01T00:00:00.000Z',
    depth: nodes.length,
    running: 0,
    blocked: 0,
    avgWaitSeconds: null,
    pool: { id: 'pool', name: 'gpu', limits: { id: 'limits', maxConcurrent: null } },
    entries: { nodes, pageInfo: { hasNextPage: false } },
  }) as unknown as WorkloadRowFragment
const [train, clean, evaluate] = [
  job('job_1', 'train', 'zoe'),
  job('job_2', 'clean', 'ann'),
  job('job_3', 'evaluate', 'ben'),
]

const screen = (rows: number) =>
  createTerminal({
    stdout: Object.assign(process.stdout, { isTTY: true, rows, columns: 100 }),
    stderr: process.stderr,
    colour: false,
  })
const typed = (text: string): KeyPress[] => [...text].map((sequence) => ({ sequence, name: sequence }))

function open(...jobs: ReturnType<typeof job>[]) {
  const view = new TopView()
  view.show(queueOf(...jobs))
  const press = (...keys: KeyPress[]) => keys.map((key) => view.press(key)).at(-1)
  const lines = (rows = 24) => view.draw(screen(rows)).trimEnd().split('\n')
  const selected = (rows?: number) =>
    lines(rows)
      .find((line) => line.startsWith('>'))
      ?.match(/job_\d+/)?.[0]
  return { view, press, lines, selected }
}

it('berth top moves the selection by keys, and keeps it on its job when the list changes', () => {
  const { view, press, selected } = open(train, clean, evaluate)
  expect(selected()).toBe('job_1')
  press(...typed('jj'))
  expect(selected()).toBe('job_3')
  press(...typed('jk'))
  expect(selected()).toBe('job_2')
  view.show(queueOf(clean, evaluate, train))
  expect(selected()).toBe('job_2')
  view.show(queueOf(evaluate, train))
  expect(selected()).toBe('job_3')
})

it('berth top shows the selected job on a screen that is too low for all jobs', () => {
  const jobs = Array.from({ length: 50 }, (_, i) => job(`job_${i}`, `n${i}`, 'ann'))
  const { press, lines, selected } = open(...jobs)
  press(...typed('j'.repeat(40)))
  expect(selected(10)).toBe('job_40')
  expect(lines(10)).toHaveLength(10)
})

it('berth top asks before it cancels a job, and cancels the job that the question names', () => {
  const { view, press, lines } = open(train, clean)
  press(...typed('c'))
  expect(lines().at(-1)).toBe('cancel train (job_1)? y/N')
  expect(press(...typed('n'))).toBeNull()
  expect(press(...typed('cy'))).toMatchObject({ kind: 'CANCEL', job: { id: 'job_1' } })
  press(...typed('c'))
  view.show(queueOf(clean))
  expect(press(...typed('y'))).toBeNull()
})

it('berth top filters by name, user and id, sorts, opens a job, and quits', () => {
  const { press, lines, selected } = open(train, clean, evaluate)
  press(...typed('/ben'), { name: 'return', sequence: '\r' })
  expect(selected()).toBe('job_3')
  expect(press({ name: 'return', sequence: '\r' })).toMatchObject({ kind: 'OPEN', job: { id: 'job_3' } })
  press({ name: 'escape', sequence: '\u001b' }, ...typed('s'))
  expect(
    lines()
      .filter((line) => line.includes('job_'))
      .map((line) => line.match(/job_\d/)?.[0]),
  ).toEqual(['job_2', 'job_3', 'job_1'])
  expect(press(...typed('l'))).toMatchObject({ kind: 'LOG' })
  expect(press(...typed('q'))).toEqual({ kind: 'QUIT' })
  expect(press({ name: 'c', ctrl: true, sequence: '\u0003' })).toEqual({ kind: 'QUIT' })
})
