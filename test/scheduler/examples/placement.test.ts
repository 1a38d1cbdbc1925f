import { describe, expect, test } from 'vitest'
import {
  type Ask,
  type Cluster,
  chooseModes,
  h100,
  MIX,
  node,
  startCluster,
  times,
  v100,
} from '../../support/cluster.ts'

/** Examples of docs/how-jobs-wait.md, by number: on which nodes jobs are placed, also by reservation. */
const modes = chooseModes('pass')
const P = {
  policy: 'PRIORITY' as const,
  limits: { maxConcurrent: null, userMaxConcurrent: null, localJobMaxConcurrent: null },
}

describe.each(modes)('examples of placement (scheduling mode: %s)', (mode) => {
  test('example 64: a job is placed on the weakest GPU that meets its requirements', async () => {
    await using it = await startCluster({ mode, ...P, nodes: MIX() })
    const asked = async (resources: Record<string, unknown>, gpu = 1) => {
      const id = await it.submit({ gpu, cpu: 0.1, resources })
      await it.settle()
      const { runs } = await it.job(id)
      const reason = await it.reason(id)
      await it.cancel(id)
      await it.settle()
      return runs.nodes[0]?.nodeNames[0] ?? reason
    }
    expect(await asked({ gpuMemoryGib: 16 })).toBe('p100')
    expect(await asked({ gpuMemoryGib: 17 })).toBe('v100')
    expect(await asked({ gpuMemoryGib: 81 })).toBe('UNSATISFIABLE')
    expect(await asked({ gpuTensorCores: true })).toBe('v100')
    expect(await asked({ cudaVersion: '10.2' })).toBe('p100')
    expect(await asked({ cudaVersion: '11.8' })).toBe('v100')
    expect(await asked({ cudaVersion: '12.9' })).toBe('UNSATISFIABLE')
    expect(await asked({ gpuModel: ['v100'] })).toBe('v100')
    expect(await asked({ gpuModel: ['!V100'] })).toBe('p100')
    expect(await asked({ gpuModel: ['tesla', '!p100'] })).toBe('v100')
    expect(await asked({ gpuModel: ['%'] })).toBe('UNSATISFIABLE')
    for (const filter of ['', '!'])
      expect(await it.answer({ gpu: 1, resources: { gpuModel: [filter] } })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await it.answer({ resources: { gpuModel: ['v100'] } })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('example 66: one job at a time uses the InfiniBand of a node', async () => {
    await using it = await startCluster({ mode, ...P, nodes: [node('ib', { gpus: times(8, h100), infiniband: true })] })
    const ask: Ask = { gpu: 2, resources: { infiniband: true } }
    const [one, two] = [await it.submit(ask), await it.submit(ask)]
    await it.settle()
    expect(await it.states(one, two)).toEqual(['RUNNING', 'QUEUED'])
    await it.cancel(one)
    await it.settle()
    expect(await it.states(two)).toEqual(['RUNNING'])
  })

  test('example 66: replicas are placed only on nodes that have every requested feature', async () => {
    await using it = await startCluster({ mode, ...P, nodes: MIX(), relaxReplicas: false })
    const answer = await it.answer({ gpu: 1, resources: { replicas: 2, gpuMemoryGib: 16, gpuModel: ['h100'] } })
    expect(answer).toMatchObject({ code: 'INVALID_INPUT', violations: [{ path: ['spec', 'resources', 'infiniband'] }] })
  })

  async function fourGpus(): Promise<Cluster> {
    const it = await startCluster({ mode, ...P, nodes: [node('n1', { gpus: times(4, v100) })] })
    await it.submit({ gpu: 2, cpu: 0.1, resources: { gpuIds: [0, 1] } })
    await it.settle()
    return it
  }
  const gpusOf = async (it: Cluster, ask: Ask) => {
    const answer = await it.answer({ cpu: 0.1, ...ask })
    if (!answer['job']) return answer['code']
    await it.settle()
    const { id } = answer['job'] as { id: string }
    const { state, runs } = await it.job(id)
    await it.cancel(id)
    await it.settle()
    return state === 'QUEUED' ? 'waits' : runs.nodes[0]?.gpuIds
  }

  test('example 67: a job waits for named GPUs, or with anyGpu takes any of them', async () => {
    await using it = await fourGpus()
    expect(await gpusOf(it, { gpu: 2, resources: { gpuIds: [1, 2] } })).toBe('waits')
    expect(await gpusOf(it, { gpu: 2, resources: { gpuIds: [1, 2], anyGpu: true } })).toEqual([2, 3])
    expect(await gpusOf(it, { gpu: 2, resources: { gpuIds: [2] } })).toBe('INVALID_INPUT')
    expect(await gpusOf(it, { gpu: 2, resources: { gpuIds: [2, 2, 3] } })).toEqual([2, 3])
    expect(await gpusOf(it, { gpu: 2, resources: { gpuIds: [9] } })).toBe('INVALID_INPUT')
  })

  test('example 68: a job with noWait does not start before waiting jobs; a preview writes no rows', async () => {
    await using it = await fourGpus()
    const older = await it.submit({ gpu: 4, cpu: 0.1 })
    await it.settle()
    const count = async () =>
      (await it.sql('SELECT (SELECT count(*) FROM job) AS j, (SELECT count(*) FROM event) AS e'))[0]
    const before = await count()
    const noWait = { input: { noWait: true } }
    expect(await it.answer({ gpu: 1, cpu: 0.1, ...noWait })).toMatchObject({ __typename: 'RejectedProblem' })
    await it.cancel(older)
    await it.settle()
    expect(await it.answer({ gpu: 3, cpu: 0.1, ...noWait })).toMatchObject({ __typename: 'RejectedProblem' })
    expect((await it.sql<{ n: number }>('SELECT count(*)::int AS n FROM job'))[0]?.n).toBe(
      Number((before as { j: number }).j),
    )
    const stored = await count()
    expect(await it.preview({ gpu: 2, cpu: 0.1 })).toMatchObject({
      wouldBe: 'STARTING',
      nodeNames: ['n1'],
      gpuIds: [2, 3],
    })
    expect(await it.preview({ gpu: 3, cpu: 0.1 })).toMatchObject({
      wouldBe: 'QUEUED',
      reasons: [{ code: 'NO_CAPACITY' }],
    })
    expect(await count()).toEqual(stored)
    const { job } = (await it.answer({ gpu: 2, cpu: 0.1, ...noWait })) as { job?: { state: string } }
    // The answer reads the job again, and its run may have started meanwhile.
    expect(['STARTING', 'RUNNING']).toContain(job?.state)
  })

  test('example 70: a duration becomes the maximum run time; conflicting values and unknown queues are refused', async () => {
    await using it = await startCluster({ mode, ...P, nodes: MIX() })
    const id = await it.submit({ durationSeconds: 60 })
    expect(await it.sql(`SELECT spec->'maxRunTimeSeconds' AS s FROM job WHERE id = $1`, [id])).toEqual([{ s: 60 }])
    expect(await it.answer({ durationSeconds: 60, maxRunTimeSeconds: 90 })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await it.answer({ queue: 'nowhere' })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await it.answer({ capacityReservationId: 'reservation_none' })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('example 70: jobs wait for the window of their capacity reservation, and no other jobs use its nodes in the window', async () => {
    await using it = await startCluster({ mode, ...P, nodes: [node('n1'), node('n2')] })
    const [{ now } = { now: new Date(0) }] = await it.sql<{ now: Date }>('SELECT berth_now() AS now')
    const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()
    const { pool } = await it.admin.data('{ pool(name: "sim") { nodes { nodes { id name } } } }')
    const n2 = pool.nodes.nodes.find(({ name }: { name: string }) => name === 'n2')
    const { createCapacityReservation: made } = await it.admin.data(
      `mutation ($input: CreateCapacityReservationInput!) { createCapacityReservation(input: $input) {
        ... on CreateCapacityReservationSuccess { capacityReservation { id } } ... on Problem { message } } }`,
      { input: { name: 'demo', pool: 'sim', project: 'show', nodeIds: [n2.id], startsAt: at(100), endsAt: at(1000) } },
    )
    const { id: capacityReservationId } = (made as unknown as { capacityReservation: { id: string } })
      .capacityReservation
    expect(await it.answer({ capacityReservationId, project: 'other' })).toMatchObject({ code: 'INVALID_INPUT' })
    const reserved = await it.submit({ capacityReservationId, project: 'show', cpu: 16 })
    await it.settle()
    expect(await it.reason(reserved)).toBe('RESERVATION_WINDOW')
    await it.advance(101)
    const others = [await it.submit({ cpu: 16 }), await it.submit({ cpu: 16 })]
    await it.settle()
    expect((await it.job(reserved)).runs.nodes[0]?.nodeNames).toEqual(['n2'])
    expect(await it.states(...others)).toEqual(['RUNNING', 'QUEUED'])
  })
})
