import { describe, expect, test } from 'vitest'
import { chooseModes, N8, N8x2, startCluster } from '../../support/cluster.ts'
import { mutate } from '../../support/people.ts'
import { until } from '../../support/until.ts'

/** Examples of docs/how-jobs-wait.md, by number: which runs are evicted for which jobs. */
const modes = chooseModes('loop')
const S = { policy: 'FAIR_SHARE' as const, nodes: [N8()] }
const of = (account: string) => ({ account })

describe.each(modes)('examples of preemption (scheduling mode: %s)', (mode) => {
  test('example 38: of two possible victims only the one that started later is evicted', async () => {
    await using it = await startCluster({ mode, ...S })
    const older = await it.submit({ gpu: 4, pre: true, ...of('x') })
    await it.settle()
    const newer = await it.submit({ gpu: 4, pre: true, ...of('x') })
    await it.settle()
    await it.user('rita', 'RESEARCHER') // sees no jobs of others
    const preempts = { wouldBe: 'QUEUED', preempts: [{ id: newer }], preemptedCount: 1 }
    expect(await it.preview({ gpu: 4, pre: true, ...of('y') })).toMatchObject(preempts)
    expect(await it.preview({ gpu: 4, pre: true, as: 'rita' })).toMatchObject({ preempts: [], preemptedCount: 1 })
    expect(await it.preview({ gpu: 4, pre: true, ...of('x') })).toMatchObject({ preempts: [], preemptedCount: 0 })
    const claimant = await it.submit({ gpu: 4, pre: true, ...of('y') })
    await it.settle()
    expect(await it.states(older, newer, claimant)).toEqual(['RUNNING', 'INTERRUPTED', 'RUNNING'])
    const audit = await it.sql('SELECT tier, claimant_job_id, victim_job_id FROM preemption')
    expect(audit).toMatchObject([{ tier: 1, claimant_job_id: claimant, victim_job_id: newer }])
  })

  const loop = [
    { gpu: 6, cpu: 2, rst: true, bid: 0, ...of('a2') },
    { gpu: 4, cpu: 1, rst: true, bid: 1, ...of('a0') },
    { gpu: 3, cpu: 5, rst: true, bid: 2, ...of('a0') },
  ]

  test('example 39: three jobs that compete for a node replace each other once per rotation quantum', async () => {
    await using it = await startCluster({ mode, ...S })
    const [big = '', four = '', three = ''] = await it.together(...loop)
    for (let i = 0; i < 5; i++) await it.advance(60)
    expect(await it.sql('SELECT tier, victim_job_id AS victim FROM preemption')).toEqual([{ tier: 2, victim: three }])
    expect(await it.states(big, four, three)).toEqual(['RUNNING', 'QUEUED', 'QUEUED'])
  })

  test('example 39: without rotation no job is evicted, and the job that needs four GPUs is backfilled', async () => {
    await using it = await startCluster({ mode, ...S, scheduling: { rotationQuantumMs: -1 } })
    const [big = '', four = '', three = ''] = await it.together(...loop)
    expect(await it.states(big, four, three)).toEqual(['QUEUED', 'RUNNING', 'RUNNING'])
    await it.advance(601)
    expect(await it.states(big, four, three)).toEqual(['QUEUED', 'RUNNING', 'RUNNING'])
    expect(await it.sql('SELECT 1 FROM preemption')).toEqual([])
  })

  test('example 41: a non-preemptable job evicts a job of an account that uses the pool, which waits until it ends', async () => {
    await using it = await startCluster({ mode, ...S })
    const a = await it.submit({ gpu: 8, rst: true, ...of('a') })
    await it.settle()
    const b = await it.submit({ gpu: 2, seconds: 100, ...of('b') })
    await it.settle()
    expect(await it.states(a, b)).toEqual(['QUEUED', 'RUNNING'])
    for (let i = 0; i < 3; i++) await it.settle()
    expect(await it.sql('SELECT 1 FROM preemption')).toHaveLength(1)
    await it.advance(101)
    expect(await it.states(a, b)).toEqual(['RUNNING', 'SUCCEEDED'])
  })

  test('example 43: no job is evicted if evictions cannot free enough', async () => {
    await using it = await startCluster({ mode, ...S, nodes: N8x2(), scheduling: { nonPreemptableFraction: 1 } })
    for (let i = 0; i < 2; i++) await it.submit({ gpu: 4, ...of('fill') })
    await it.settle()
    for (let i = 0; i < 2; i++) await it.submit({ gpu: 4, pre: true, ...of('x') })
    await it.settle()
    const claimant = await it.submit({ gpu: 8, resources: { nodeCount: 2 }, pre: true, ...of('y') })
    for (let i = 0; i < 5; i++) await it.settle()
    expect(await it.sql('SELECT 1 FROM preemption')).toEqual([])
    expect(await it.reason(claimant)).toBe('NO_CAPACITY')
  })

  test('example 45: resources freed for a claimant are kept for the claimant', async () => {
    await using it = await startCluster({ mode, ...S })
    const quick = await it.submit({ gpu: 4, rst: true, stubborn: 1, ...of('x') })
    const slow = await it.submit({ gpu: 4, rst: true, stubborn: 20, ...of('x') })
    await it.settle()
    const claimant = await it.submit({ gpu: 8, rst: true, ...of('y') })
    const third = await it.submit({ gpu: 1, rst: true, ...of('z') })
    await it.settle()
    expect(await it.reason(claimant)).toBe('WAITING_FOR_PREEMPTION')
    await it.advance(2)
    expect(await it.states(claimant, third)).toEqual(['QUEUED', 'QUEUED'])
    await it.advance(20)
    expect(await it.states(claimant, third)).toEqual(['RUNNING', 'QUEUED'])
    const victims = await it.sql('SELECT victim_job_id AS id FROM preemption ORDER BY 1')
    expect(victims.map(({ id }) => id).sort()).toEqual([quick, slow].sort())
  })

  test('example 48: a restartable victim keeps its job and log, and gets another run', async () => {
    await using it = await startCluster({ mode, ...S })
    const victim = await it.submit({ gpu: 8, rst: true, ...of('x') })
    const before = await it.job(victim)
    await it.settle()
    const claimant = await it.submit({ gpu: 8, seconds: 50, pre: true, ...of('y') })
    await it.settle()
    expect(await it.states(claimant)).toEqual(['RUNNING'])
    await it.advance(51)
    const after = await it.job(victim)
    expect(after).toMatchObject({ id: before.id, createdAt: before.createdAt, state: 'RUNNING' })
    expect(after.runs.nodes.map(({ number, state }) => [number, state])).toEqual([
      [1, 'INTERRUPTED'],
      [2, 'RUNNING'],
    ])
  })

  test('example 49: a preemptable victim that is not restartable ends INTERRUPTED', async () => {
    await using it = await startCluster({ mode, ...S })
    const victim = await it.submit({ gpu: 8, pre: true, ...of('x') })
    await it.settle()
    await it.submit({ gpu: 8, pre: true, ...of('y') })
    await it.settle()
    const { state, runs } = await it.job(victim)
    expect([state, runs.nodes.length]).toEqual(['INTERRUPTED', 1])
  })

  test('rotation: two accounts do not evict the jobs of each other in turn', async () => {
    await using it = await startCluster({ mode, ...S, weights: { ml: 2 } })
    const three = (account: string) => ({ gpu: 3, pre: true, ...of(account) })
    const jobs = await it.together(three('a'), three('a'), three('ml'), three('ml'))
    for (let i = 0; i < 3; i++) await it.advance(1)
    expect(await it.states(...jobs)).toEqual(['INTERRUPTED', 'QUEUED', 'RUNNING', 'RUNNING'])
    const evicted = await it.sql<{ claimant: string; victim: string }>('SELECT claimant, victim FROM preemption')
    expect(evicted).toEqual([{ claimant: 'ml', victim: 'a' }])
  })

  test('lost work: lost work is recorded, and a job that lost work runs twice as long before its next eviction', async () => {
    await using it = await startCluster({ mode, ...S })
    const victim = await it.submit({ gpu: 8, rst: true, ...of('x') })
    await it.settle()
    await it.advance(60)
    const first = await it.submit({ gpu: 4, seconds: 10, ...of('y'), pre: true })
    await it.settle()
    await it.advance(11)
    expect(await it.states(victim, first)).toEqual(['RUNNING', 'SUCCEEDED'])
    const second = await it.submit({ gpu: 4, seconds: 10, pre: true, ...of('y') })
    await it.advance(100)
    expect(await it.states(victim, second)).toEqual(['RUNNING', 'QUEUED'])
    const query = `query ($id: ID!) { job(id: $id) { runs(first: 5) { nodes { lostSeconds } } } }`
    expect(await it.admin.data(query, { id: victim })).toMatchObject({
      job: { runs: { nodes: [{ lostSeconds: expect.closeTo(60, -1) }, { lostSeconds: null }] } },
    })
    await it.advance(30)
    expect(await it.states(second)).toEqual(['RUNNING'])
  })

  test('holds: a job backfilled on held nodes is evicted when the owner of the hold needs them', async () => {
    const scheduling = { nonPreemptableFraction: 1 }
    await using it = await startCluster({ mode, ...S, scheduling })
    const busy = await it.submit({ gpu: 7, seconds: 14, maxRunTimeSeconds: 15, ...of('f') })
    await it.settle()
    const head = await it.submit({ gpu: 8, ...of('h') })
    await it.advance(3)
    const first = await it.submit({ gpu: 1, pre: true, ...of('x') })
    await it.settle()
    const second = await it.submit({ gpu: 1, pre: true, ...of('y') })
    await it.settle()
    expect(await it.states(busy, head, first, second)).toEqual(['RUNNING', 'QUEUED', 'INTERRUPTED', 'RUNNING'])
    await it.advance(12)
    expect(await it.states(busy, head, second)).toEqual(['SUCCEEDED', 'RUNNING', 'INTERRUPTED'])
  })

  test('holds: a gang starts although preemptable jobs are submitted all the time', async () => {
    const scheduling = { nonPreemptableFraction: 1 }
    await using it = await startCluster({ mode, ...S, nodes: N8x2(), scheduling })
    const long = { seconds: 39, maxRunTimeSeconds: 40, ...of('f') }
    const busy = await it.together({ gpu: 7, ...long }, { gpu: 6, ...long })
    const one = (account: string) => it.submit({ gpu: 1, pre: true, ...of(account) })
    const stream = [await one('x'), await one('x'), await one('x')]
    await it.settle()
    const gang = await it.submit({ gpu: 8, resources: { nodeCount: 2 }, ...of('g') })
    for (const account of ['y', 'z', 'w']) {
      await it.advance(10)
      const next = await one(account)
      await it.settle()
      expect(await it.states(...busy, gang, next)).toEqual(['RUNNING', 'RUNNING', 'QUEUED', 'RUNNING'])
      stream.push(next, await one('x'))
    }
    expect(await it.holding(...stream)).toHaveLength(3)
    await it.advance(10)
    expect(await it.states(...busy, gang)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'RUNNING'])
    expect(await it.holding(...stream)).toEqual([])
  })

  test('limits: a claimant that may no longer start releases the resources that are held for it', async () => {
    await using it = await startCluster({ mode, ...S })
    const victim = await it.submit({ gpu: 8, rst: true, stubborn: 20, ...of('x') })
    await it.settle()
    const claimant = await it.submit({ gpu: 8, rst: true, project: 'p', ...of('y') })
    await it.settle()
    expect(await it.reason(claimant)).toBe('WAITING_FOR_PREEMPTION')
    await mutate(it.admin, 'setScopeLimit', { input: { scope: { project: 'p' }, maxJobs: 0 } })
    await it.advance(21)
    expect(await it.states(claimant, victim)).toEqual(['QUEUED', 'RUNNING'])
    await until(async () => (await it.reason(claimant)) === 'PROJECT_LIMIT', { what: 'the limit is the reason' })
  })

  test('limits: a claimant that needs more victims than the limit per minute evicts them all at once', async () => {
    await using it = await startCluster({ mode, ...S, scheduling: { maxPreemptionsPerMinute: 1 } })
    const victims = [
      await it.submit({ gpu: 4, pre: true, ...of('x') }),
      await it.submit({ gpu: 4, pre: true, ...of('x') }),
    ]
    await it.settle()
    const claimant = await it.submit({ gpu: 8, pre: true, ...of('y') })
    await it.settle()
    expect(await it.states(claimant, ...victims)).toEqual(['RUNNING', 'INTERRUPTED', 'INTERRUPTED'])
  })
})
