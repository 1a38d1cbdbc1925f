import { describe, expect, test } from 'vitest'
import { type Cluster, chooseModes, N8, N8x2, node, startCluster, times, v100 } from '../../support/cluster.ts'
import { until } from '../../support/until.ts'

/** Examples of docs/how-jobs-wait.md, by number: the order of fair share, preemptable jobs, holds, interactive jobs. */
const modes = chooseModes('loop')
const S = { policy: 'FAIR_SHARE' as const, scheduling: {} }
/** Jobs of one account. */
const of = (account: string) => ({ account })

async function fill(it: Cluster, gpus: number, more: object): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < gpus; i++) ids.push(await it.submit({ gpu: 1, pre: true, ...more }))
  await it.settle()
  return ids
}

/** Jobs that each need the whole node, so that they run one after the other. */
const whole = (count: number, account: string, seconds: number) => times(count, { gpu: 8, seconds, account })

/** The accounts of such jobs in the order of their starts. */
async function turns(it: Cluster, seconds: Record<string, number>, starts: number): Promise<string> {
  const started = async () =>
    (
      await it.sql<{ account: string }>(
        'SELECT account FROM run JOIN job ON job.id = run.job_id WHERE run.started_at IS NOT NULL ORDER BY run.started_at',
      )
    ).map(({ account }) => account)
  for (let i = 1; i < starts; i++) await it.advance(1 + (seconds[(await started()).at(-1) ?? ''] ?? 0))
  return (await started()).join('')
}

describe.each(modes)('examples of fair share (scheduling mode: %s)', (mode) => {
  test('example 31: the account with the lowest usage starts first', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    await it.submit({ gpu: 4, pre: true, ...of('a') })
    await it.submit({ gpu: 3, pre: true, ...of('c') })
    await it.settle()
    const [a = '', b = ''] = await it.together({ gpu: 1, pre: true, ...of('a') }, { gpu: 1, pre: true, ...of('b') })
    expect(await it.states(a, b)).toEqual(['QUEUED', 'RUNNING'])
  })

  test('example 32: two accounts with twenty jobs each get four GPUs each', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    const twenty = (account: string) => times(20, { gpu: 1, cpu: 0.1, pre: true, account })
    const ids = await it.together(...twenty('a'), ...twenty('b'))
    expect(await it.holding(...ids.slice(0, 20))).toHaveLength(4)
    expect(await it.holding(...ids.slice(20))).toHaveLength(4)
  })

  test('example 32: a sub-account does not get a share of its own, in addition to that of its account', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    const jobs = (count: number, account: string) => times(count, { gpu: 1, cpu: 0.1, pre: true, account })
    const names = ['a', 'a.1', 'a.2', 'a.3', 'a.4', 'a.5', 'a.6']
    const ids = await it.together(...names.flatMap((account) => jobs(3, account)), ...jobs(20, 'b'))
    expect(await it.holding(...ids.slice(0, 21))).toHaveLength(4)
    expect(await it.holding(...ids.slice(21))).toHaveLength(4)
  })

  test('turns: among accounts with equal usage, the one that has waited longest for a start is next', async () => {
    await using it = await startCluster({
      mode,
      ...S,
      scheduling: { nonPreemptableFraction: 1, shareHalfLifeMs: null },
      nodes: [N8()],
    })
    const whole = (account: string) => ({ gpu: 8, seconds: 10, account })
    const [first = '', ...later] = await it.together(...times(3, whole('a')), whole('b'))
    const second = await it.submit(whole('c'))
    await it.settle()
    const order = [first]
    for (let i = 0; i < 4; i++) {
      await it.advance(11)
      order.push(...(await it.holding(...later, second)))
    }
    const [a2, a3, b] = later
    expect(order).toEqual([first, b, second, a2, a3])
  })

  test.each([
    ['two', { a: 12, b: 12 }, 'ab'.repeat(6)],
    ['three', { a: 4, b: 4, c: 4 }, 'abc'.repeat(4)],
  ])('turns: whole-node jobs of %s accounts alternate', async (_, jobs, order) => {
    await using it = await startCluster({
      mode,
      ...S,
      scheduling: { nonPreemptableFraction: 1, shareHalfLifeMs: null },
      nodes: [N8()],
    })
    await it.together(...Object.entries(jobs).flatMap(([account, count]) => whole(count, account, 10)))
    expect(await turns(it, { a: 10, b: 10, c: 10 }, order.length)).toBe(order)
  })

  test.each([
    ['without a half-life they alternate', null, 'abababab'],
    ['with a half-life, three short jobs follow a long one', 3_600_000, 'abbbabbb'],
    // The starts take real time, which counts too; up to 3 s do not change the order.
  ] as const)('half-life: accounts with jobs of 40 s and of 14 s: %s', async (_, shareHalfLifeMs, order) => {
    const scheduling = { nonPreemptableFraction: 1, shareHalfLifeMs }
    await using it = await startCluster({ mode, ...S, scheduling, nodes: [N8()] })
    await it.together(...whole(8, 'a', 40), ...whole(8, 'b', 14))
    expect(await turns(it, { a: 40, b: 14 }, order.length)).toBe(order)
  })

  test('example 33: within an account the job with the higher bid starts first', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [node('n', { cpuMillis: 1_000 })] })
    let running = await it.submit({ ...of('a'), pre: true })
    await it.settle()
    const bid = (more: object) => it.submit({ ...of('a'), pre: true, ...more })
    const [none, one, most] = [await bid({}), await bid({ bid: 1 }), await bid({ bid: 42 })]
    const order: string[] = []
    for (let i = 0; i < 3; i++) {
      await it.cancel(running)
      await it.settle()
      ;[running = ''] = await it.holding(none, one, most)
      order.push(running)
    }
    expect(order).toEqual([most, one, none])
  })

  test.each([
    ['an account with the share 0.5 is before one with 0.75', {}, 'c'],
    ['with weight 2 the share 0.75 becomes 0.375, and the account is first', { a: 2 }, 'a'],
  ] as const)('example 36: %s', async (_, weights, first) => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()], weights })
    await it.together(
      { cpu: 12, pre: true, ...of('a') },
      { cpu: 1, gpu: 4, pre: true, ...of('c') },
      { cpu: 2, pre: true, ...of('z') },
    )
    const [a, c] = await it.together({ pre: true, ...of('a') }, { pre: true, ...of('c') })
    expect(await it.holding(a ?? '', c ?? '')).toEqual([first === 'a' ? a : c])
  })

  test('example 52: a blocked head keeps its node, and the jobs behind it start on other nodes', async () => {
    const scheduling = { nonPreemptableFraction: 1 }
    const nodes = [node('n'), node('g', { cpuMillis: 4_000, gpus: [v100] })]
    await using it = await startCluster({ mode, ...S, scheduling, nodes })
    await it.submit({ cpu: 6, ...of('b') })
    await it.settle()
    const head = await it.submit({ cpu: 16, ...of('b') })
    const behind = await it.submit({ cpu: 8, ...of('b') })
    const elsewhere = await it.submit({ cpu: 1, ...of('b') })
    const gpu = await it.submit({ gpu: 1, ...of('b') })
    await it.settle()
    expect(await it.states(head, behind, elsewhere, gpu)).toEqual(['QUEUED', 'QUEUED', 'RUNNING', 'RUNNING'])
    expect(await it.why(behind)).toMatchObject({ code: 'HOLD', job: { id: head } })
    expect((await it.job(behind)).scheduling?.fit).toMatchObject({ freeNow: false, couldEverFit: true })
  })

  test('example 54: a head that waits for the limit of non-preemptable jobs does not block preemptable jobs', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    await it.submit({ gpu: 2, ...of('a') })
    await it.settle()
    const head = await it.submit({ gpu: 1, ...of('b') })
    const pre = await it.submit({ gpu: 1, pre: true, ...of('b') })
    await it.settle()
    expect(await it.states(head, pre)).toEqual(['QUEUED', 'RUNNING'])
    expect(await it.reason(head)).toBe('NON_PREEMPTABLE_POOL')
  })

  test('a job larger than the part of the pool for non-preemptable jobs is reported as never startable, without an estimate', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    const because = expect.stringMatching(/at most 0\.25 of each resource.*this job alone requests more.*4 GPUs/)
    const fit = { freeNow: false, couldEverFit: false, missing: [because] }
    expect(await it.preview({ gpu: 4, ...of('a') })).toEqual({
      __typename: 'JobPreview',
      wouldBe: 'QUEUED',
      nodeNames: [],
      gpuIds: [],
      reasons: [{ code: 'NON_PREEMPTABLE_POOL', message: because }],
      warnings: [because],
      fit,
      estimatedStart: null,
      preempts: [],
      preemptedCount: 0,
    })
    const stored = (await it.answer({ gpu: 4, ...of('a') })) as { job: { id: string }; warnings: string[] }
    expect(stored.warnings).toEqual([because])
    await it.settle()
    expect((await it.job(stored.job.id)).scheduling).toMatchObject({
      fit,
      estimatedStart: null,
      reasons: [{ code: 'NON_PREEMPTABLE_POOL', message: because }],
    })
    expect(await it.preview({ gpu: 2, ...of('a') })).toMatchObject({
      wouldBe: 'STARTING',
      fit: { freeNow: true },
      warnings: [],
    })
    await it.submit({ gpu: 2, ...of('b') })
    await it.settle()
    expect(await it.preview({ gpu: 2, ...of('a') })).toMatchObject({
      wouldBe: 'QUEUED',
      fit: { freeNow: false, couldEverFit: true, missing: [expect.stringContaining('at most 0.25 of each resource')] },
      warnings: [],
    })
  })

  test('example 55: a job that can never fit shows that reason and blocks no job, until a suitable node is added', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    const never = await it.submit({ gpu: 16, pre: true, ...of('a') })
    const bound = await it.submit({ gpu: 16, ...of('a') })
    const other = await it.submit({ gpu: 2, pre: true, ...of('a') })
    await it.settle()
    expect(await it.states(never, other)).toEqual(['QUEUED', 'RUNNING'])
    expect([await it.reason(never), await it.reason(bound)]).toEqual(['UNSATISFIABLE', 'UNSATISFIABLE'])
    const gpus = [{ model: 'Tesla V100-SXM2-32GB', memoryBytes: 32 * 2 ** 30, count: 16 }]
    await it.admin.data(
      `mutation ($input: AddNodeInput!) { addNode(input: $input) { ... on AddNodeSuccess { node { id } } ... on Problem { message } } }`,
      { input: { pool: 'sim', name: 'big', cpu: 16, memoryBytes: 64 * 2 ** 30, gpus } },
    )
    await it.settle()
    expect(await it.states(never)).toEqual(['RUNNING'])
  })

  test('example 57: on held nodes, only jobs start that end in time or are preemptable', async () => {
    await using it = await startCluster({
      mode,
      ...S,
      scheduling: { nonPreemptableFraction: 1 },
      nodes: [N8()],
    })
    const ends = { maxRunTimeSeconds: 80, seconds: 80 }
    const busy = await it.submit({ gpu: 6, ...of('a'), ...ends })
    await it.settle()
    const head = await it.submit({ gpu: 8, ...of('b'), maxRunTimeSeconds: 50, seconds: 50 })
    await it.advance(21)
    const hold = await until(async () => (await it.job(head)).scheduling?.hold, { what: 'the node is held' })
    expect(hold).toMatchObject({ nodes: [{ name: 'n1' }] })
    const short = await it.submit({ gpu: 1, ...of('c'), maxRunTimeSeconds: 30, seconds: 30 })
    const endless = await it.submit({ gpu: 1, ...of('c'), maxRunTimeSeconds: 0 })
    await it.settle()
    expect(await it.states(busy, endless, short)).toEqual(['RUNNING', 'QUEUED', 'RUNNING'])
    expect(await it.reason(endless)).toBe('HOLD')
    await it.advance(31)
    const pre = await it.submit({ gpu: 1, pre: true, ...of('d') })
    await it.settle()
    expect(await it.states(short, pre)).toEqual(['SUCCEEDED', 'RUNNING'])
    await it.advance(30)
    expect(await it.states(busy, pre, head)).toEqual(['SUCCEEDED', 'INTERRUPTED', 'RUNNING'])
  })

  test('example 58: of two gangs that do not fit together, one runs and the other holds no resources', async () => {
    await using it = await startCluster({
      mode,
      ...S,
      scheduling: { nonPreemptableFraction: 1 },
      nodes: [N8('n1'), N8('n2'), N8('n3')],
    })
    const gang = { gpu: 8, resources: { nodeCount: 2 }, maxRunTimeSeconds: 100, seconds: 100 }
    const [one, two] = [await it.submit({ ...gang, ...of('a') }), await it.submit({ ...gang, ...of('b') })]
    await it.settle()
    expect((await it.states(one, two)).sort()).toEqual(['QUEUED', 'RUNNING'])
    const [running] = await it.holding(one, two)
    const waiting = running === one ? two : one
    expect(
      await it.sql('SELECT 1 FROM device_claim c JOIN run r ON r.id = c.run_id WHERE r.job_id = $1', [waiting]),
    ).toEqual([])
    await it.advance(101)
    expect(await it.states(waiting)).toEqual(['RUNNING'])
  })

  test('example 59: an interactive job preempts other jobs at once', async () => {
    await using it = await startCluster({ mode, ...S, nodes: N8x2() })
    await it.submit({ gpu: 8, pre: true, ...of('heavy') })
    const others = await fill(it, 8, of('light'))
    const shell = await it.submit({ gpu: 8, interactive: true, ...of('heavy') })
    await it.settle()
    expect(await it.states(shell)).toEqual(['RUNNING'])
    expect(await it.states(...others)).toEqual(Array.from({ length: 8 }, () => 'INTERRUPTED'))
  })

  test('examples 60 and 62: a user may run one interactive job; the next one starts when that one is killed', async () => {
    await using it = await startCluster({ mode, ...S, nodes: [N8()] })
    const first = await it.submit({ interactive: true, stubborn: 20, ...of('a') })
    await it.settle()
    const second = await it.submit({ interactive: true, ...of('b') })
    await it.settle()
    const refused = await it.job(second)
    expect(refused).toMatchObject({ state: 'FAILED', stateReason: 'INTERACTIVE_QUOTA', exitCode: null })
    expect(refused.stateInfo).toContain(first)
    await it.cancel(first)
    const third = await it.submit({ interactive: true, ...of('a') })
    await it.settle()
    expect(await it.states(first, third)).toEqual(['CANCELLING', 'QUEUED'])
    await it.advance(21)
    expect(await it.states(first, third)).toEqual(['CANCELLED', 'RUNNING'])
  })
})
