import { describe, expect, test } from 'vitest'
import { CPU, chooseModes, N8, startCluster } from '../../support/cluster.ts'
import { mutate } from '../../support/people.ts'
import { until } from '../../support/until.ts'

/** Examples of docs/how-jobs-wait.md, by number: priorities, limits, starvation, approvals. */
const modes = chooseModes('pass')
const P = { policy: 'PRIORITY' as const, nodes: [CPU()] }
const limits = (more: object) => ({
  limits: { maxConcurrent: null, userMaxConcurrent: null, localJobMaxConcurrent: null, ...more },
})

describe.each(modes)('examples of priorities (scheduling mode: %s)', (mode) => {
  test('example 1: jobs start in the order of their priority levels: 30, 20, 10, 0', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 1 }) })
    await it.user('vera', 'VIEWER', ['job.submit'])
    await it.user('rosa', 'RESEARCHER')
    await it.user('lena', 'LEAD')
    await it.user('anna', 'ADMIN')
    const hog = await it.submit()
    await it.settle()
    const ids: Record<string, string> = {}
    for (const as of ['vera', 'rosa', 'lena', 'anna']) ids[as] = await it.submit({ as })
    await it.settle()
    const priorities = await Promise.all(Object.values(ids).map(async (id) => (await it.job(id)).priority))
    expect(priorities).toEqual([0, 10, 20, 30])
    const order: string[] = []
    let running = hog
    for (let i = 0; i < 4; i++) {
      await it.cancel(running)
      await it.settle()
      const [next] = await it.holding(...Object.values(ids))
      running = next ?? ''
      order.push(Object.entries(ids).find(([, id]) => id === running)?.[0] ?? 'nobody')
    }
    expect(order).toEqual(['anna', 'lena', 'rosa', 'vera'])
  })

  test('example 4: a LEAD may override the priority (0 … 50) of a job that has not started', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 1 }) })
    await it.user('rosa', 'RESEARCHER')
    const running = await it.submit({ as: 'rosa' })
    await it.settle()
    const waiting = await it.submit({ as: 'rosa' })
    const set = async (as: string, jobId: string, priority: number | null) =>
      (await mutate(it.person(as), 'setJobPriority', {
        input: { jobId, priority },
        wanted: 'job { priority }',
      })) as unknown as Record<string, unknown>
    expect(await set('root', waiting, -1)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await set('root', waiting, 51)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await set('rosa', waiting, 20)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await set('root', running, 20)).toMatchObject({ code: 'INVALID_STATE' })
    expect(await set('root', waiting, 50)).toMatchObject({ job: { priority: 50 } })
    const other = await it.submit()
    await it.settle()
    await it.cancel(running)
    await it.settle()
    expect(await it.holding(waiting, other)).toEqual([waiting])
  })

  test('example 5: two jobs of each user run, and five in the pool; the sixth job waits for the limit of the pool', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 5, userMaxConcurrent: 2 }) })
    const ids: string[] = []
    for (const as of ['ada', 'bob', 'cyd']) await it.user(as, 'RESEARCHER')
    for (const as of ['ada', 'bob', 'cyd', 'ada', 'bob', 'cyd']) ids.push(await it.submit({ as }))
    await it.settle()
    expect(await it.holding(...ids)).toEqual(ids.slice(0, 5))
    expect(await it.why(ids[5] ?? '')).toMatchObject({
      code: 'GLOBAL_LIMIT',
      limit: 5,
      used: 5,
    })
  })

  test('example 7: limits of the team and the user are reported before the limit of the pool', async () => {
    await using it = await startCluster({
      mode,
      ...P,
      ...limits({ maxConcurrent: 6, userMaxConcurrent: 2, teamMaxConcurrent: 3, enableFairShare: true }),
    })
    for (const [as, team] of [
      ['alice', 'alpha'],
      ['bob', 'alpha'],
      ['carol', 'beta'],
    ] as const) {
      const { userId } = await it.user(as, 'RESEARCHER')
      await it.sql(`INSERT INTO team (id, name, account) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING`, [
        `team_${team}`,
        team,
      ])
      await it.sql('INSERT INTO team_member (team_id, user_id) VALUES ($1, $2)', [`team_${team}`, userId])
      await it.sql('UPDATE "user" SET default_team_id = $1 WHERE id = $2', [`team_${team}`, userId])
    }
    const alpha: string[] = []
    const beta: string[] = []
    for (const as of ['alice', 'alice', 'bob', 'bob']) alpha.push(await it.submit({ as }))
    for (let i = 0; i < 3; i++) beta.push(await it.submit({ as: 'carol' }))
    await it.settle()
    expect(await it.holding(...alpha)).toEqual(alpha.slice(0, 3))
    expect(await it.holding(...beta)).toEqual(beta.slice(0, 2))
    expect(await it.reason(alpha[3] ?? '')).toBe('TEAM_LIMIT')
    expect(await it.reason(beta[2] ?? '')).toBe('USER_LIMIT')
  })

  test('example 9: after a limit is lowered, jobs keep running and the next start waits', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 5 }) })
    const ids = await Promise.all(Array.from({ length: 6 }, () => it.submit()))
    await it.settle()
    expect(await it.holding(...ids)).toHaveLength(5)
    await mutate(it.admin, 'updateLimits', { input: { maxConcurrent: 2 } })
    await it.settle()
    expect(await it.holding(...ids)).toHaveLength(5)
    for (let left = 4; left >= 2; left--) {
      await it.cancel((await it.holding(...ids))[0] ?? '')
      await it.settle()
      expect(await it.holding(...ids)).toHaveLength(left)
    }
    await it.cancel((await it.holding(...ids))[0] ?? '')
    await it.settle()
    expect(await it.holding(...ids)).toHaveLength(2)
  })

  test('example 11: jobs that waited for two starvation thresholds are first, at most at level 30', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 1, starvationThresholdSeconds: 2 }) })
    await it.user('vera', 'VIEWER', ['job.submit'])
    await it.user('rosa', 'RESEARCHER')
    let running = await it.submit()
    await it.settle()
    const starved = await it.submit({ as: 'vera' })
    for (let round = 0; (await it.holding(starved)).length === 0; round++) {
      expect(round).toBeLessThan(10)
      expect((await it.job(starved)).priority).toBeLessThanOrEqual(30)
      const next = await it.submit({ as: 'rosa' })
      await it.cancel(running)
      await it.advance(0.5)
      ;[running = running] = await it.holding(starved, next)
      const held = await it.sql("SELECT 1 FROM run WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING')")
      expect(held.length).toBeLessThanOrEqual(1)
    }
    const [waited] = await it.sql<{ seconds: number }>(
      `SELECT extract(epoch FROM r.scheduled_at - j.eligible_at)::float8 AS seconds
       FROM run r JOIN job j ON j.id = r.job_id WHERE j.id = $1`,
      [starved],
    )
    expect(waited?.seconds).toBeGreaterThanOrEqual(2)
  })

  test('example 13: retention deletes old finished jobs, and keeps active jobs', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 1 }) })
    const done = await it.submit({ seconds: 1 })
    await it.settle()
    await it.advance(2)
    expect(await it.states(done)).toEqual(['SUCCEEDED'])
    const running = await it.submit()
    await it.settle()
    const queued = await it.submit()
    const blocked = await it.submit({ input: { requiresApproval: true } })
    await it.advance(6 * 86_400)
    const later = await it.submit()
    await it.cancel(later)
    await it.advance(1.1 * 86_400)
    const [week] = await it.sql<{ ago: Date }>("SELECT berth_now() - interval '7 days' AS ago")
    const matching = { filter: { finishedBefore: week?.ago }, expectedCount: 1 }
    const wanted = 'remaining results { jobId }'
    expect(await mutate(it.admin, 'deleteJobs', { input: { selection: { matching } }, wanted })).toMatchObject({
      remaining: 0,
      results: [{ jobId: done }],
    })
    const left = (await it.sql<{ id: string }>('SELECT id FROM job')).map(({ id }) => id)
    expect(left.sort()).toEqual([running, queued, blocked, later].sort())
  })

  test('example 15: a job that waits for approval has a run without an allocation, and other jobs start before it', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 2 }) })
    await mutate(it.admin, 'createApprovalRule', { input: { name: 'dear', condition: { costAbove: 50 } } })
    const dear = await it.submit({ estimatedCost: 60 })
    const cheap = [await it.submit({ estimatedCost: 10 }), await it.submit({ estimatedCost: 20 })]
    await it.settle()
    expect(await it.states(dear, ...cheap)).toEqual(['BLOCKED', 'RUNNING', 'RUNNING'])
    expect((await it.job(dear)).runs.nodes).toMatchObject([{ number: 1, state: 'BLOCKED' }])
    expect(
      await it.sql('SELECT 1 FROM allocation a JOIN run r ON r.id = a.run_id WHERE r.job_id = $1', [dear]),
    ).toEqual([])
  })

  test('example 16: a blocked job of an admin does not block jobs of researchers', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ maxConcurrent: 2 }) })
    await it.user('rosa', 'RESEARCHER')
    const blocked = await it.submit({ input: { requiresApproval: true } })
    const ids = [await it.submit({ as: 'rosa' }), await it.submit({ as: 'rosa' })]
    await it.settle()
    expect(await it.states(blocked, ...ids)).toEqual(['BLOCKED', 'RUNNING', 'RUNNING'])
  })

  test('examples 20 and 22: a rejected job fails with the message; an approved job still waits for limits', async () => {
    await using it = await startCluster({ mode, ...P, ...limits({ userMaxConcurrent: 1 }) })
    await it.user('rosa', 'RESEARCHER')
    const input = { requiresApproval: true }
    const running = await it.submit({ as: 'rosa' })
    const refused = await it.submit({ as: 'rosa', rst: true, input })
    const approved = await it.submit({ as: 'rosa', input })
    await it.settle()
    await mutate(it.admin, 'rejectJob', { input: { jobId: refused, reason: 'too big', expectedVersion: 2 } })
    await mutate(it.admin, 'approveJob', { input: { jobId: approved, expectedVersion: 2 } })
    await it.settle()
    expect(await it.job(refused)).toMatchObject({ state: 'FAILED', stateReason: 'APPROVAL_REJECTED', exitCode: null })
    expect((await it.job(refused)).stateInfo).toContain('too big')
    expect((await it.job(refused)).runs.nodes).toHaveLength(1)
    expect(await it.reason(approved)).toBe('USER_LIMIT')
    await it.cancel(running)
    await it.settle()
    expect(await it.states(approved)).toEqual(['RUNNING'])
  })

  test('holds: a job before the owner of a hold starts on the held nodes, and a job behind the owner does not', async () => {
    const scheduling = {}
    await using it = await startCluster({ mode, ...P, ...limits({}), nodes: [N8()], scheduling })
    await it.user('vera', 'VIEWER', ['job.submit'])
    await it.submit({ gpu: 4 })
    await it.settle()
    const owner = await it.submit({ as: 'vera', gpu: 8 })
    await it.advance(3)
    const hold = () => it.job(owner).then(({ scheduling }) => scheduling?.hold)
    expect(await until(hold, { what: 'the hold is published' })).toMatchObject({ nodes: [{ name: 'n1' }] })
    const behind = await it.submit({ as: 'vera', gpu: 1 })
    await it.settle()
    expect(await it.reason(behind)).toBe('HOLD')
    const allow = (maxJobs: number) =>
      mutate(it.admin, 'setScopeLimit', { input: { scope: { project: 'k' }, maxJobs } })
    await allow(0)
    const before = await it.submit({ gpu: 4, project: 'k' })
    await mutate(it.admin, 'setJobPriority', { input: { jobId: before, priority: 50 } })
    await it.settle()
    const jobs = await Promise.all([before, owner, behind].map((id) => it.job(id)))
    expect(jobs.map(({ priority, position }) => [priority, position])).toEqual([
      [50, 1],
      [0, 2],
      [0, 3],
    ])
    expect(await until(hold, { what: 'the hold is published' })).toMatchObject({ nodes: [{ name: 'n1' }] })
    await allow(1)
    await it.settle()
    expect(await it.states(owner, behind, before)).toEqual(['QUEUED', 'QUEUED', 'RUNNING'])
  })

  test('holds: a hold passes to a new head of the queue', async () => {
    const scheduling = {}
    await using it = await startCluster({ mode, ...P, ...limits({}), nodes: [N8()], scheduling })
    await it.user('rosa', 'RESEARCHER')
    const busy = await it.submit({ gpu: 4 })
    await it.settle()
    const owner = await it.submit({ as: 'rosa', gpu: 8 })
    await it.advance(3)
    const head = await it.submit({ gpu: 6 })
    await it.settle()
    await until(async () => (await it.job(head)).scheduling?.hold, { what: 'the hold has moved' })
    expect((await it.job(owner)).scheduling?.hold).toBeNull()
    await it.cancel(busy)
    await it.settle()
    expect(await it.states(head, owner)).toEqual(['RUNNING', 'QUEUED'])
  })

  test('preemption: a head that is first only because it waited long does not prevent evictions for other jobs', async () => {
    await using it = await startCluster({
      mode,
      ...P,
      limits: { ...limits({}).limits, starvationThresholdSeconds: 10 },
      nodes: [N8()],
      scheduling: { preemptLowerPriority: true },
    })
    await it.user('vera', 'VIEWER', ['job.submit'])
    await it.user('lena', 'LEAD')
    const running = await it.submit({ as: 'vera', gpu: 8, pre: true })
    await it.settle()
    const aged = await it.submit({ as: 'vera', gpu: 8 })
    await it.advance(31)
    const lead = await it.submit({ as: 'lena', gpu: 8 })
    await it.settle()
    expect(await it.states(running, aged, lead)).toEqual(['INTERRUPTED', 'QUEUED', 'RUNNING'])
  })
})
