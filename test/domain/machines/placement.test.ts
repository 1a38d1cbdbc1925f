import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { listMissingResources } from '../../../src/domain/machines/missing-resources.ts'
import {
  couldEverFit,
  createFitting,
  type FreeNode,
  freeResources,
  type Placement,
  place,
  takeResources,
} from '../../../src/domain/machines/placement.ts'
import { GiB, type Shape } from '../../../src/domain/shape.ts'
import { gpus, h100, node, p100, shape, v100 } from '../../support/machines.ts'
import { tries } from '../../support/whole.ts'

const mixed = [
  node('p100', { devices: gpus(p100) }),
  node('v100', { devices: gpus(v100) }),
  node('h100', { devices: gpus(h100), infiniband: true }),
]

/** Names of the nodes on which the shape fits, each node alone. */
const servedBy = (asks: Partial<Shape>, nodes = mixed) =>
  nodes.filter((one) => place(shape({ gpu: 1, ...asks }), [one])).map(({ name }) => name)

const nodesOf = (placements: readonly Placement[] | null) => placements?.map((one) => one.node).toSorted()
const first = (asks: Partial<Shape>, nodes: readonly FreeNode[]) => place(shape(asks), nodes)?.[0]

describe('filters of placement', () => {
  test.each([
    [{ gpuMemoryBytes: 16 * GiB }, ['p100', 'v100', 'h100']],
    [{ gpuMemoryBytes: 17 * GiB }, ['v100', 'h100']],
    [{ gpuMemoryBytes: 81 * GiB }, []],
    [{ gpuTensorCores: true }, ['v100', 'h100']],
    [{ cudaVersion: '10.2' }, ['p100', 'v100']],
    [{ cudaVersion: '11.8' }, ['v100', 'h100']],
    [{ cudaVersion: '12.9' }, []],
    [{ cudaVersion: '9.10' }, ['p100', 'v100']],
    [{ gpuModel: ['v100'] }, ['v100']],
    [{ gpuModel: ['!V100'] }, ['p100', 'h100']],
    [{ gpuModel: ['tesla', '!p100'] }, ['v100']],
    [{ gpuModel: ['%'] }, []],
    [{ gpuModel: ['_'] }, []],
    [{ infiniband: true }, ['h100']],
    [{ gpu: 9 }, []],
    [{ cpuMillis: 16_001 }, []],
    [{ memoryBytes: 65 }, []],
  ])('example 64: %j matches the GPU models %j', (asks, names) => {
    expect(servedBy(asks)).toEqual(names)
  })

  test('example 64: the weakest sufficient GPU is chosen', () => {
    expect(first({ gpu: 1 }, mixed)?.node).toBe('p100')
    expect(first({ gpu: 1, gpuTensorCores: true }, mixed)?.node).toBe('v100')
    expect(first({ gpu: 1, cudaVersion: '11.8' }, mixed)?.node).toBe('v100')
    expect(first({ gpu: 1, gpuMemoryBytes: 33 * GiB }, mixed)?.node).toBe('h100')
  })

  test('cpuModel matches the name of the processor', () => {
    const nodes = [node('amd', { cpuModel: 'amd epyc 7763' }), node('intel', { cpuModel: 'intel xeon' }), node('what')]
    const served = (cpuModel: string[]) => servedBy({ gpu: 0, cpuModel }, nodes)
    expect(served(['EPYC'])).toEqual(['amd'])
    expect(served(['!epyc'])).toEqual(['intel', 'what'])
    expect(served(['.*'])).toEqual([])
  })

  test('a node offers only its free resources', () => {
    const nodes = [node('busy', { freeCpu: 900, freeMemory: 10, devices: gpus(v100, 8, [3]) })]
    expect(first({}, nodes)).toBeUndefined()
    expect(first({ cpuMillis: 900, memoryBytes: 11 }, nodes)).toBeUndefined()
    expect(first({ cpuMillis: 900, memoryBytes: 10, gpu: 1 }, nodes)?.gpuIds).toEqual([3])
    expect(first({ cpuMillis: 900, gpu: 2 }, nodes)).toBeUndefined()
  })

  test.each(['CORDONED', 'DRAINING', 'LOST'] as const)(
    'a %s node takes no new jobs, but counts as one on which they could fit later',
    (state) => {
      const nodes = [node('n', { state, freeCpu: 0 })]
      expect(place(shape(), nodes)).toBeNull()
      expect(couldEverFit(shape(), nodes)).toBe(true)
      expect(nodes[0]).toMatchObject({ state, freeCpu: 0 })
    },
  )

  test('an exclusive job takes a whole node, which must be idle', () => {
    expect(first({ exclusive: true }, [node('n', { freeCpu: 15_999 })])).toBeUndefined()
    expect(first({ exclusive: true }, [node('n', { devices: gpus(v100, 8, [0]) })])).toBeUndefined()
    expect(first({ exclusive: true }, [node('n')])).toMatchObject({ cpuMillis: 16_000, memoryBytes: 64 })
  })

  test('a view of a node can hide some or all of its resources', () => {
    const nodes = [node('a', { devices: gpus(v100) }), node('b', { devices: gpus(v100) })]
    const held = (one: FreeNode) => (one.name === 'a' ? { ...one, devices: gpus(v100, 8, [7]) } : one)
    expect(place(shape({ gpu: 1 }), nodes, { view: held })).toMatchObject([{ node: 'a', gpuIds: [7] }])
    expect(place(shape({ gpu: 2 }), nodes, { view: held })).toMatchObject([{ node: 'b' }])
    expect(place(shape(), nodes, { view: () => null })).toBeNull()
  })
})

describe('example 66: InfiniBand', () => {
  test('is given to one replica at a time, even if GPUs are free', () => {
    const [one, two] = [node('ib', { infiniband: true, devices: gpus(h100) }), node('plain', { devices: gpus(h100) })]
    const asks = shape({ gpu: 1, infiniband: true })
    const placed = place(asks, [one, two])
    expect(placed).toMatchObject([{ node: 'ib', infiniband: true }])
    for (const placement of placed ?? []) takeResources(one, placement)
    expect(place(asks, [one, two])).toBeNull()
    expect(listMissingResources(asks, [one, two])).toEqual(['InfiniBand: all nodes with InfiniBand are in use'])
    expect(first({ gpu: 1 }, [one])?.gpuIds).toEqual([1])
    for (const placement of placed ?? []) freeResources(one, placement)
    expect(place(asks, [one, two])).toEqual(placed)
  })

  test('keeps replicas on distinct nodes', () => {
    const nodes = ['a', 'b', 'c'].map((name) => node(name, { infiniband: name !== 'c' }))
    expect(nodesOf(place(shape({ copies: 2, infiniband: true }), nodes))).toEqual(['a', 'b'])
    expect(place(shape({ copies: 3, infiniband: true }), nodes)).toBeNull()
    expect(couldEverFit(shape({ copies: 3, infiniband: true }), nodes)).toBe(false)
  })
})

test('with nodeCount each copy gets a node of its own if the backend chooses the nodes; on one machine the copies share it', () => {
  const pair = shape({ copies: 2, distinctNodes: true })
  const others = { cpuMillis: 0, memoryBytes: 0, gpus: [] }
  const machines = ['a', 'b'].map((name) => node(name))
  const backendNodes = ['a', 'b'].map((name) => node(name, { others }))
  expect(nodesOf(place(pair, machines))).toEqual(['a', 'a'])
  expect(nodesOf(place(pair, backendNodes))).toEqual(['a', 'b'])
  expect(nodesOf(place({ ...pair, distinctNodes: false }, backendNodes))).toEqual(['a', 'a'])
  expect(createFitting(pair, backendNodes).copiesAt(0)).toBe(1)
  expect(couldEverFit({ ...pair, copies: 3 }, machines)).toBe(true)
  expect(couldEverFit({ ...pair, copies: 3 }, backendNodes)).toBe(false)
  expect(listMissingResources({ ...pair, copies: 3 }, backendNodes)).toEqual(['3 nodes: resources are free for only 2'])
})

test('example 67: a job gets its named GPUs in the given order, or any of them with anyGpu', () => {
  const nodes = [node('n', { devices: gpus(v100, 4, [2, 3]) })]
  const at = (asks: Partial<Shape>) => first({ gpu: 2, ...asks }, nodes)?.gpuIds
  expect(at({ gpuIds: [1, 2] })).toBeUndefined()
  expect(at({ gpuIds: [1, 2], anyGpu: true })).toEqual([2, 3])
  expect(at({ gpuIds: [2, 3] })).toEqual([2, 3])
  expect(at({ gpuIds: [3, 0, 2] })).toEqual([3, 2])
})

describe('placement prefers', () => {
  const chosen = (asks: Partial<Shape>, ...nodes: FreeNode[]) => first(asks, nodes)?.node

  test('nodes with interactive jobs for an interactive job, above all other criteria', () => {
    const nodes = [node('a', { devices: gpus(p100) }), node('b', { devices: gpus(h100), interactive: 1 })]
    expect(place(shape({ gpu: 1 }), nodes, { interactive: true })).toMatchObject([{ node: 'b', interactive: true }])
    expect(place(shape({ gpu: 1 }), nodes)).toMatchObject([{ node: 'a', interactive: false }])
  })

  test('the weakest sufficient GPU: the least memory, then no tensor cores, then the lowest CUDA version', () => {
    const model = { model: 'x', memoryGib: 32, tensorCores: true, cuda: ['9.0', '11.10'] }
    const strong = node('a', { devices: gpus(model, 1) })
    const weaker = (less: Partial<typeof model>) => node('b', { devices: gpus({ ...model, ...less }) })
    expect(chosen({ gpu: 1 }, strong, weaker({ memoryGib: 24 }))).toBe('b')
    expect(chosen({ gpu: 1 }, strong, weaker({ tensorCores: false, cuda: [] }))).toBe('b')
    expect(chosen({ gpu: 1 }, strong, weaker({ cuda: ['9.0', '11.9'] }))).toBe('b')
    expect(chosen({ gpu: 1 }, strong, weaker({ cuda: [] }))).toBe('a')
    const both = node('both', { devices: [...gpus(h100, 1), { ...p100, index: 1, free: true }] })
    expect(first({ gpu: 1 }, [both])?.gpuIds).toEqual([1])
    expect(chosen({ gpu: 2 }, both, node('v', { devices: gpus(v100) }))).toBe('v')
  })

  test('the node that has the first of the named GPUs', () => {
    const [a, b] = [node('a', { devices: gpus(v100, 4, [1, 2]) }), node('b', { devices: gpus(v100, 4) })]
    expect(chosen({ gpu: 1, gpuIds: [0, 1] }, a, b)).toBe('b')
    expect(chosen({ gpu: 1, gpuIds: [0, 1], anyGpu: true }, a, b)).toBe('a')
  })

  test('the node with the fewest GPUs left, then cores, then memory, then one without GPUs, then by name', () => {
    const four = node('z', { devices: gpus(v100, 8, [0, 1, 2, 3]) })
    expect(chosen({ gpu: 4 }, node('a', { devices: gpus(v100) }), four)).toBe('z')
    expect(chosen({}, node('a', { devices: gpus(v100), freeCpu: 1000 }), node('z'))).toBe('z')
    expect(chosen({}, node('a'), node('z', { freeCpu: 8000 }))).toBe('z')
    expect(chosen({}, node('a'), node('z', { freeMemory: 32 }))).toBe('z')
    expect(chosen({}, node('a', { devices: gpus(v100, 8, []) }), node('z'))).toBe('z')
    expect(chosen({}, node('z'), node('a'))).toBe('a')
  })
})

describe('several replicas', () => {
  test('are placed together or not at all, and the search takes no resources', () => {
    const nodes = [node('a'), node('b')]
    expect(place(shape({ copies: 3, cpuMillis: 16_000 }), nodes)).toBeNull()
    expect(nodesOf(place(shape({ copies: 2, cpuMillis: 16_000 }), nodes))).toEqual(['a', 'b'])
    expect(place(shape({ copies: 2, cpuMillis: 8_000 }), nodes)).toMatchObject([
      { node: 'a', replica: 0 },
      { node: 'a', replica: 1 },
    ])
    expect(nodes).toEqual([node('a'), node('b')])
  })
})

describe('the missing resources', () => {
  test.each<[Partial<Shape>, Partial<FreeNode>[], string[]]>([
    [{}, [{}], []],
    [{}, [], ['The pool has no nodes']],
    [{}, [{ state: 'LOST' }, { state: 'CORDONED' }], ['No node is ready: 1 lost, 1 cordoned']],
    [{ cpuMillis: 4000 }, [{ freeCpu: 2500 }], ['4 cpu on one node: 2.5 are free']],
    [{ gpu: 4 }, [{ devices: gpus(v100, 8, [1, 2]) }], ['4 GPUs on one node: 2 are free']],
    [{ gpu: 16 }, [{ devices: gpus(v100) }], ['16 GPUs on one node: no node has more than 8']],
    [
      { gpu: 1, gpuMemoryBytes: 81 * GiB },
      [{ devices: gpus(v100) }],
      ['1 GPU (81 GiB each) on one node: no node has one'],
    ],
    [
      { gpu: 1, cpuMillis: 9000 },
      [{}, { freeCpu: 8000, devices: gpus(v100) }],
      ['9 cpu, 0 GiB and 1 GPU on the same node'],
    ],
    [{ copies: 3, cpuMillis: 16_000 }, [{}, {}], ['3 replicas: resources are free for only 2']],
    [{ exclusive: true }, [{ freeCpu: 8000 }], ['An idle node: every node has running jobs']],
  ])('of a job with %j on the nodes %j are listed', (asks, nodes, words) => {
    const named = nodes.map((more, index) => node(`n${index}`, more))
    expect(listMissingResources(shape(asks), named)).toEqual(words)
  })
})

// ── properties ──

const models = [p100, v100, h100]

const someNode = fc
  .record({
    cpu: fc.integer({ min: 0, max: 16 }),
    memory: fc.integer({ min: 0, max: 64 }),
    infiniband: fc.boolean(),
    infinibandFree: fc.boolean(),
    gpuJobsOnly: fc.boolean(),
    interactive: fc.nat(1),
    ready: fc.integer({ min: 0, max: 9 }),
    devices: fc.array(fc.tuple(fc.nat(2), fc.boolean()), { maxLength: 6 }),
  })
  .map(({ cpu, memory, infiniband, infinibandFree, gpuJobsOnly, interactive, ready, devices }) =>
    node('', {
      freeCpu: cpu * 1000,
      freeMemory: memory,
      infiniband,
      infinibandFree: infiniband && infinibandFree,
      gpuJobsOnly,
      backOff: null,
      interactive,
      state: ready > 0 ? 'READY' : 'CORDONED',
      devices: devices.map(([model, free], index) => ({ index, ...(models[model] ?? p100), free })),
    }),
  )

const someNodes = fc
  .array(someNode, { minLength: 1, maxLength: 5 })
  .map((nodes) => nodes.map((one, i) => ({ ...one, id: `n${i}`, name: `n${i}` })))

const someShape = fc
  .record({
    copies: fc.integer({ min: 1, max: 4 }),
    cpuMillis: fc.integer({ min: 0, max: 8 }).map((cpu) => cpu * 1000),
    memoryBytes: fc.nat(16),
    gpu: fc.nat(3),
    gpuMemoryBytes: fc.constantFrom(null, 17 * GiB, 33 * GiB),
    gpuTensorCores: fc.boolean(),
    cudaVersion: fc.constantFrom(null, '10.2', '11.8'),
    infiniband: fc.boolean(),
    anyGpu: fc.boolean(),
    gpuIds: fc.constantFrom(null, [2, 0, 1, 3]),
  })
  .map(shape)

type Key = number[]

/** A second, simple implementation of the specification: it tries every device and every node. */
function referenceKey(
  asks: Shape,
  one: FreeNode,
  interactive: { together: boolean },
): { key: Key; gpuIds: number[] } | null {
  const version = (text: string) => Number(text.split('.')[0]) * 1000 + Number(text.split('.')[1])
  const weakness = (d: FreeNode['devices'][number]) => [d.memoryGib, Number(d.tensorCores), version(d.cuda[1] ?? '')]
  const serving = one.devices.filter(
    (d) =>
      d.free &&
      d.memoryGib * GiB >= (asks.gpuMemoryBytes ?? 0) &&
      (d.tensorCores || !asks.gpuTensorCores) &&
      (asks.cudaVersion === null ||
        (version(d.cuda[0] ?? '') <= version(asks.cudaVersion) &&
          version(asks.cudaVersion) <= version(d.cuda[1] ?? ''))),
  )
  const list = asks.anyGpu ? null : asks.gpuIds
  const inOrder = list
    ? list.flatMap((id) => serving.filter(({ index }) => index === id))
    : serving.toSorted((a, b) => compareKeys(weakness(a), weakness(b)) || a.index - b.index)
  const chosen = inOrder.slice(0, asks.gpu)
  if (one.state !== 'READY' || chosen.length < asks.gpu || (asks.infiniband && !one.infinibandFree)) return null
  if (asks.gpu === 0 && one.gpuJobsOnly) return null
  if (one.freeCpu < asks.cpuMillis || one.freeMemory < asks.memoryBytes) return null
  const strongest = chosen.map(weakness).toSorted(compareKeys).at(-1) ?? [0, 0, 0]
  const gpuIds = chosen.map(({ index }) => index)
  const named = list?.filter((id) => serving.some(({ index }) => index === id) || one.devices[id]) ?? []
  const suiting = named.filter((id) => one.devices[id] && suits(asks, one, id))
  const places = list ? gpuIds.reduce((sum, id) => sum + suiting.indexOf(id), 0) : 0
  const left = one.devices.filter(({ free }) => free).length - asks.gpu
  const away = Number(asks.gpu === 0 && one.devices.length > 0)
  const apart = Number(interactive.together && one.interactive === 0)
  const key = [apart, ...strongest, places, left, one.freeCpu - asks.cpuMillis, one.freeMemory - asks.memoryBytes, away]
  return { key, gpuIds }
}

/** Whether the device satisfies the shape, free or not. */
function suits(asks: Shape, one: FreeNode, id: number): boolean {
  const all = node('alone', { devices: one.devices.map((device) => ({ ...device, free: device.index === id })) })
  return place({ ...asks, copies: 1, cpuMillis: 0, memoryBytes: 0, infiniband: false, gpu: 1 }, [all]) !== null
}

function compareKeys(a: Key, b: Key): number {
  const at = a.findIndex((value, i) => value !== b[i])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

function reference(asks: Shape, nodes: readonly FreeNode[], interactive: { together: boolean }) {
  const left = structuredClone(nodes) as FreeNode[]
  const placed: { node: string; gpuIds: number[] }[] = []
  for (let replica = 0; replica < asks.copies; replica++) {
    const [best] = left
      .flatMap((one) => {
        const rated = referenceKey(asks, one, interactive)
        return rated ? [{ one, ...rated }] : []
      })
      .toSorted((a, b) => compareKeys(a.key, b.key) || (a.one.name < b.one.name ? -1 : 1))
    if (!best) return null
    const { one, gpuIds } = best
    one.freeCpu -= asks.cpuMillis
    one.freeMemory -= asks.memoryBytes
    if (asks.infiniband) one.infinibandFree = false
    if (interactive.together) one.interactive++
    for (const device of one.devices) if (gpuIds.includes(device.index)) device.free = false
    placed.push({ node: one.name, gpuIds })
  }
  return placed
}

describe('for random nodes and jobs', () => {
  test('the placement is the best one for each replica in turn, and the search takes no resources', () => {
    fc.assert(
      fc.property(someNodes, someShape, fc.boolean(), (nodes, asks, together) => {
        const before = structuredClone(nodes)
        const placed = place(asks, nodes, { interactive: together })
        const expected = reference(asks, nodes, { together })
        expect(placed?.map(({ node: name, gpuIds }) => ({ node: name, gpuIds })) ?? null).toEqual(expected)
        expect(nodes).toEqual(before)
        expect(listMissingResources(asks, nodes).length > 0).toBe(placed === null)
      }),
      { numRuns: tries(2000) },
    )
  })

  test('no resource is taken twice, and released resources are free again', () => {
    fc.assert(
      fc.property(someNodes, fc.array(someShape, { minLength: 1, maxLength: 8 }), (nodes, shapes) => {
        const before = structuredClone(nodes)
        const given: Placement[] = []
        const nodeOf = ({ nodeId }: Placement) => nodes.find(({ id }) => id === nodeId) ?? node('none')
        for (const asks of shapes) {
          const placed = place(asks, nodes)
          expect([asks.copies, undefined]).toContain(placed?.length)
          for (const placement of placed ?? []) {
            const on = nodeOf(placement)
            expect(placement.gpuIds.every((id) => on.devices[id]?.free)).toBe(true)
            takeResources(on, placement)
            given.push(placement)
          }
        }
        for (const { freeCpu, freeMemory } of nodes) expect(Math.min(freeCpu, freeMemory)).toBeGreaterThanOrEqual(0)
        for (const placement of given.toReversed()) freeResources(nodeOf(placement), placement)
        expect(nodes).toEqual(before)
      }),
      { numRuns: tries(1000) },
    )
  })

  test('a job that fits now is also reported as one that can fit', () => {
    fc.assert(
      fc.property(someNodes, someShape, (nodes, asks) => place(asks, nodes) === null || couldEverFit(asks, nodes)),
    )
  })
})
