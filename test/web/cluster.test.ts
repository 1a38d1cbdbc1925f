import { describe, expect, it } from 'vitest'
import { CellColors } from '../../web/pages/cluster/cell-colors.ts'
import { fitNode, parseRequest } from '../../web/pages/cluster/fits.ts'
import { findSpot, layOutMap, listBlocks } from '../../web/pages/cluster/map-layout.ts'
import { applyNodeChange, type MapNode } from '../../web/pages/cluster/node-changes.ts'
import { findCondition } from '../../web/pages/cluster/node-condition.ts'

const gib = 2 ** 30
const nowMs = Date.parse('2026-11-26T12:00:00Z')
const noClaims = { held: new Set<string>(), reserved: new Set<string>(), silent: new Set<string>() }

function makeNode(
  id: string,
  { gpus: count = 8, used = 0, ...more }: Partial<Omit<MapNode, 'gpus'>> & { gpus?: number; used?: number } = {},
) {
  const gpus = Array.from({ length: count }, (_, index) => ({
    index,
    model: 'A100',
    memoryBytes: 40 * gib,
    allocated: index < used,
    job: index < used ? { id: 'job_1', name: null, state: 'RUNNING', account: `team${index}` } : null,
    run: index < used ? { id: 'run_1', startedAt: new Date(nowMs - 7_200_000).toISOString() } : null,
  }))
  const all = { cpu: 64, memoryBytes: 256 * gib, gpu: count }
  return {
    id,
    name: id,
    state: 'READY',
    backsOffUntil: null,
    capacity: all,
    free: all,
    gpus,
    ...more,
  } as unknown as MapNode
}

describe('the resources in the filter of the cluster', () => {
  const nothing = { gpus: 0, gpuModel: '', gpuMemoryBytes: 0, cores: 0, memoryBytes: 0 }
  it.each([
    ['4 GPU >= 40 GiB', { gpus: 4, gpuMemoryBytes: 40 * gib }],
    ['2 gpus a100', { gpus: 2, gpuModel: 'a100' }],
    ['a100', { gpus: 1, gpuModel: 'a100' }],
    ['16 cores 64 GiB', { cores: 16, memoryBytes: 64 * gib }],
    ['1 GPU > 16G, 8 cores', { gpus: 1, gpuMemoryBytes: 16 * gib, cores: 8 }],
  ])('are read from "%s"', (text, found) => expect(parseRequest(text)).toEqual({ ...nothing, ...found }))

  it.each(['', 'many big gpus', '4', '>= !'])('are not found in %j', (text) => expect(parseRequest(text)).toBeNull())

  it('fit on a node now, later or never', () => {
    const request = parseRequest('4 GPU >= 40 GiB')
    if (!request) throw new Error('no request')
    expect(fitNode(makeNode('free'), request, noClaims)).toBe('NOW')
    expect(fitNode(makeNode('busy', { used: 5 }), request, noClaims)).toBe('LATER')
    expect(fitNode(makeNode('closed', { state: 'CORDONED' }), request, noClaims)).toBe('LATER')
    expect(fitNode(makeNode('held'), request, { ...noClaims, held: new Set(['held']) })).toBe('LATER')
    expect(fitNode(makeNode('small', { gpus: 2 }), request, noClaims)).toBe('NEVER')
  })
})

it('findCondition returns the most important condition of a node', () => {
  const claims = { held: new Set(['a']), reserved: new Set(['a', 'b']), silent: new Set(['c']) }
  expect(findCondition(makeNode('a', { state: 'LOST' }), claims)).toBe('lost')
  expect(findCondition(makeNode('a', { backsOffUntil: '2026-11-26T12:00:00Z' }), claims)).toBe('backs off')
  expect(['a', 'b', 'c'].map((id) => findCondition(makeNode(id), claims))).toEqual(['held', 'reserved', 'silent'])
})

it('the map groups nodes by GPU model, and findSpot returns the GPU at a position', () => {
  const nodes = [makeNode('c1', { gpus: 0 }), ...Array.from({ length: 1_000 }, (_, i) => makeNode(`g${i}`))]
  const layout = layOutMap(nodes, 1_200)
  expect(layout.groups.map(({ title, tiles }) => [title, tiles.length])).toEqual([
    ['A100 40 GiB', 1_000],
    ['Without GPUs', 1],
  ])
  const tile = layout.groups[0]?.tiles[500]
  if (!tile) throw new Error('no tile')
  expect(findSpot(layout, tile.x + 3 * 18 + 5, tile.y + 25)).toMatchObject({
    node: { id: 'g500' },
    device: { index: 3 },
  })
  expect(findSpot(layout, tile.x + 5, tile.y + 5)).toMatchObject({ node: { id: 'g500' }, device: null })
  expect(findSpot(layout, 2, 2)).toBeNull()
})

it('the legend of the map counts the GPUs of each colour', () => {
  const nodes = [makeNode('a', { used: 6 })]
  const legend = (by: 'state' | 'account' | 'age') =>
    new CellColors(by, nodes, nowMs).legend(nodes).map(({ key, count }) => [key, count])
  expect(legend('state')).toEqual([
    ['Running', 6],
    ['free', 2],
  ])
  expect(legend('account')).toContainEqual(['other accounts', 2])
  expect(legend('age')).toContainEqual(['under 6 h', 6])
})

it('applyNodeChange replaces, adds and removes nodes, and drops all when the stream starts again', () => {
  const [a, b] = [makeNode('a'), makeNode('b')]
  const first = applyNodeChange(new Map(), { isStart: true, nodes: [a, b], removedIds: [] })
  const next = applyNodeChange(first, { isStart: false, nodes: [makeNode('b', { used: 1 })], removedIds: ['a'] })
  expect([...next.keys()]).toEqual(['b'])
  expect(next.get('b')?.gpus[0]?.allocated).toBe(true)
  expect([...applyNodeChange(next, { isStart: true, nodes: [a], removedIds: [] }).keys()]).toEqual(['a'])
})

it('adjacent cells of a job in a line of the map are drawn as one block', () => {
  const jobs = ['a', 'a', null, 'b', 'b', 'b', 'a', 'a']
  const gpus = jobs.map((id, index) => ({ index, job: id && { id } })) as MapNode['gpus']
  expect(
    listBlocks({ gpus }, 5).map(({ line, column, count, device }) => [device.job?.id, line, column, count]),
  ).toEqual([
    ['a', 0, 0, 2],
    [undefined, 0, 2, 1],
    ['b', 0, 3, 2],
    ['b', 1, 0, 1],
    ['a', 1, 1, 2],
  ])
})

it('the cells of the map are larger if there are few nodes', () => {
  const size = (count: number) =>
    layOutMap(
      Array.from({ length: count }, (_, i) => makeNode(`g${i}`)),
      1_200,
    ).groups[0]?.cellSize
  expect([size(4), size(128), size(129)]).toEqual([30, 30, 16])
})
