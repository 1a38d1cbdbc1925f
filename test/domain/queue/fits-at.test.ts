import { describe, expect, test } from 'vitest'
import { type ExpectedEnd, type FitQuery, findFitTime, type Reserved } from '../../../src/domain/queue/fits-at.ts'
import { node, shape } from '../../support/machines.ts'

/** Two machines of one core; n1 is taken until 100 s, n2 until 200 s. */
const nodes = ['n1', 'n2'].map((name) => node(name, { cpuMillis: 1_000, freeCpu: 0 }))
const at = (seconds: number) => new Date(seconds * 1_000)
const ending = (nodeId: string, endsAt: Date | null): ExpectedEnd => ({
  jobId: 'job_1',
  endsAt,
  placements: [
    {
      nodeId,
      node: nodeId,
      replica: 0,
      cpuMillis: 1_000,
      memoryBytes: 1,
      gpuIds: [],
      infiniband: false,
      interactive: false,
    },
  ],
})
const endings = [ending('n1', at(100)), ending('n2', at(200))]
const reserved = (startsAt: number, endsAt: number, names: string[]): Reserved => ({
  id: `of ${names}`,
  nodes: names,
  startsMs: startsAt * 1_000,
  endsMs: endsAt * 1_000,
})

function roomOf(windows: Reserved[], { from = 0, ...asks }: Partial<FitQuery> & { from?: number } = {}) {
  const asking = { shape: shape(), reservationId: null, runSeconds: 50, ...asks }
  const room = findFitTime(asking, { nodes, endings, reserved: windows }, at(from))
  return room && room.getTime() / 1_000
}

test('a job fits when enough runs have ended and its gates are open', () => {
  expect(roomOf([])).toBe(100)
  expect(roomOf([], { shape: shape({ copies: 2 }) })).toBe(200)
  expect(roomOf([], { from: 150 })).toBe(150)
  expect(roomOf([], { shape: shape({ copies: 3 }) })).toBeNull()
  const untold = { nodes, endings: [ending('n1', null)], reserved: [] }
  expect(findFitTime({ shape: shape(), reservationId: null, runSeconds: 50 }, untold, at(0))).toBeNull()
})

describe('a capacity reservation of other jobs', () => {
  test('blocks its nodes until its end', () => {
    expect(roomOf([reserved(50, 1_000, ['n1'])])).toBe(200)
    expect(roomOf([reserved(50, 1_000, ['n1', 'n2'])])).toBe(1_000)
    expect(roomOf([reserved(50, 1_000, ['n1'])], { shape: shape({ copies: 2 }) })).toBe(1_000)
  })

  test('leaves its nodes to jobs that end before the window begins', () => {
    expect(roomOf([reserved(150, 1_000, ['n1'])])).toBe(100)
    expect(roomOf([reserved(149, 1_000, ['n1'])])).toBe(200)
    expect(roomOf([reserved(150, 1_000, ['n1'])], { runSeconds: null })).toBe(200)
    expect(roomOf([reserved(150, 1_000, ['n1'])], { from: 101 })).toBe(200)
  })

  test('has no effect after its end', () => {
    expect(roomOf([reserved(0, 90, ['n1', 'n2'])])).toBe(100)
  })

  test('can be followed by another reservation of the same nodes', () => {
    expect(roomOf([reserved(50, 300, ['n1', 'n2']), reserved(320, 500, ['n1', 'n2'])])).toBe(500)
    expect(roomOf([reserved(50, 300, ['n1', 'n2']), reserved(350, 500, ['n1', 'n2'])])).toBe(300)
  })
})

test('a job of a capacity reservation fits only on the reserved nodes, within the window', () => {
  const own = { reservationId: 'of n1' }
  expect(roomOf([reserved(50, 1_000, ['n1'])], own)).toBe(100)
  expect(roomOf([reserved(400, 1_000, ['n1'])], own)).toBe(400)
  expect(roomOf([reserved(50, 90, ['n1'])], own)).toBeNull()
  expect(roomOf([reserved(50, 1_000, ['n1'])], { ...own, shape: shape({ copies: 2 }) })).toBeNull()
  expect(roomOf([], own)).toBeNull()
})
