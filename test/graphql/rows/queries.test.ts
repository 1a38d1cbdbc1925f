import { describe, expect, it } from 'vitest'
import { cancelJob } from '../../../src/domain/control/cancel.ts'
import { deleteJob } from '../../../src/domain/control/remove.ts'
import { type Move, transition } from '../../../src/domain/jobs/transition.ts'
import { reserveSlot } from '../../../src/domain/submission/slots.ts'
import { submitBlocked } from '../../support/approvals.ts'
import { ask, data, type Json, send } from '../../support/client.ts'
import { openTestServer, startServer } from '../../support/server.ts'

const server = await openTestServer()

const submitMany = (count: number, spec: object = {}) =>
  Promise.all(Array.from({ length: count }, () => server.submit({ ...spec })))

/** Collects the ids of a list page by page and calls `between` after each page. */
async function walk(order: object, between: () => Promise<void>): Promise<string[]> {
  const seen: string[] = []
  const query = `query ($after: Cursor, $order: JobOrder) {
    jobs(first: 7, after: $after, orderBy: $order, filter: { labels: [{ key: "walk" }] }) { nodes { id } pageInfo { hasNextPage endCursor } }
  }`
  for (let after: string | null = null; ; ) {
    const { jobs } = await data(server.url, query, { after, order })
    seen.push(...jobs.nodes.map((node: Json) => node.id))
    if (!jobs.pageInfo.hasNextPage) return seen
    after = jobs.pageInfo.endCursor
    await between()
  }
}

describe('lists', () => {
  it('need as many SQL statements for 100 rows as for 10, also with aliases', async () => {
    const [first = ''] = await submitMany(1)
    await submitMany(120, { dependsOn: [{ jobId: first }] })
    const query = `query ($n: Int) { jobs(first: $n) { totalCount asOf nodes {
      id eventCursor logCursor user { name } currentRun { id placements { node { name } } logBytes } scheduling { reasons { code } } position nativeId
      runs(first: 3) { nodes { id job { id } } totalCount } other: runs(last: 1) { nodes { number } } events(first: 2) { nodes { seq actor { name } } totalCount }
      artifacts(first: 1) { totalCount }
      dependencies { satisfied job { id } } dependents(first: 1) { nodes { id } }
    } } }`
    const count = async (n: number) => {
      const statements = server.countStatements()
      const { jobs } = await data(server.url, query, { n })
      expect(jobs.nodes).toHaveLength(n)
      return statements.filter((text) => !/^(BEGIN|COMMIT)/.test(text)).length
    }
    const few = await count(10)
    // Rows of one kind need two statements when other loads separate their requests.
    expect(Math.abs((await count(100)) - few)).toBeLessThan(5)
    expect(few).toBeLessThan(40)
  })

  it('return each remaining row once, although rows are added and deleted between the pages', async () => {
    const label = { key: 'walk', value: 'a' }
    const stable = new Set(await submitMany(60, { labels: [label] }))
    for (const field of ['CREATED_AT', 'FINISHED_AT', 'PRIORITY'])
      for (const direction of ['ASC', 'DESC']) {
        const comers = await submitMany(20, { labels: [label] })
        for (const jobId of comers) await cancelJob(server.domain, server.admin, { jobId })
        const seen = await walk({ field, direction }, async () => {
          const jobId = comers.pop()
          if (jobId) await deleteJob(server.domain, server.admin, { jobId })
          await server.submit({ labels: [label], name: 'late' })
        })
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.filter((id) => stable.has(id))).toHaveLength(stable.size)
      }
  })

  it('can be paged backwards', async () => {
    const { jobs } = await data(
      server.url,
      '{ jobs(first: 5) { nodes { id } edges { cursor } pageInfo { hasPreviousPage } } }',
    )
    const { jobs: back } = await data(
      server.url,
      'query ($before: Cursor) { jobs(last: 3, before: $before) { nodes { id } pageInfo { hasNextPage hasPreviousPage } } }',
      { before: jobs.edges[4].cursor },
    )
    expect(back.nodes).toEqual(jobs.nodes.slice(1, 4))
    expect(back.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: true })
  })

  it('can be filtered by every field', async () => {
    const id = await server.submit({ name: 'train_50%', labels: [{ key: 'k', value: 'v' }], project: 'p' })
    const found = async (filter: object) => {
      const { jobs } = await data(server.url, 'query ($f: JobFilter) { jobs(filter: $f) { nodes { id } } }', {
        f: filter,
      })
      return jobs.nodes.some((node: Json) => node.id === id)
    }
    const matching = [
      {},
      { ids: [id] },
      { name: 'train_5*' },
      { name: 'train?50%' },
      { labels: [{ key: 'k' }] },
      { labels: [{ key: 'k', value: 'v' }], projects: ['p'] },
      { states: ['QUEUED'] },
      { stateCategories: ['WAITING'], users: [server.admin.userId], executors: ['SIMULATED'] },
      { pools: ['sim'], queues: ['default', 'other'] },
      { createdAfter: '2020-01-01T00:00:00Z', createdBefore: '2120-01-01T00:00:00Z' },
    ]
    for (const filter of matching) expect([filter, await found(filter)]).toEqual([filter, true])
    const others = [
      { ids: [] },
      { name: 'trainX50%' },
      { name: 'train' },
      { labels: [{ key: 'k', value: 'w' }] },
      { stateCategories: ['FINAL'] },
      { finishedAfter: '2020-01-01T00:00:00Z' },
      { users: ['user_x'] },
    ]
    for (const filter of others) expect([filter, await found(filter)]).toEqual([filter, false])
  })

  it.each([
    ['BAD_REQUEST', '{ jobs(first: 0) { nodes { id } } }'],
    ['BAD_REQUEST', '{ jobs(first: -1) { nodes { id } } }'],
    ['BAD_REQUEST', '{ jobs(first: 101) { nodes { id } } }'],
    ['BAD_REQUEST', '{ jobs(last: 101) { nodes { id } } }'],
    ['BAD_REQUEST', '{ jobs(first: 1, last: 1) { nodes { id } } }'],
    ['INVALID_CURSOR', '{ jobs(after: "") { nodes { id } } }'],
    ['INVALID_CURSOR', '{ jobs(after: "x") { nodes { id } } }'],
    ['INVALID_CURSOR', '{ jobs(after: "bnVsbA") { nodes { id } } }'],
    ['BAD_REQUEST', '{ job(id: "job_\\u0000") { id } }'],
    ['BAD_REQUEST', '{ jobs(filter: { name: "\\u0000" }) { nodes { id } } }'],
    ['BAD_REQUEST', '{ jobs(filter: { labels: [{ key: "a", value: "\\u0000" }] }) { nodes { id } } }'],
  ])('fail with %s for %s', async (code, query) => {
    const { errors, status } = await ask(server.url, query)
    expect(errors?.[0]?.extensions.code).toBe(code)
    expect(status).toBe(200)
  })

  it('refuse a cursor of another list, order, filter or parent object, and a forged cursor', async () => {
    const { jobs } = await data(
      server.url,
      '{ jobs(first: 2) { asOf edges { cursor node { id eventCursor runs { edges { cursor } } } } } }',
    )
    const [one, two] = jobs.edges
    const forged = (key: string[]) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(one.cursor, 'base64url').toString()), key })).toString(
        'base64url',
      )
    const attempts: [string, string][] = [
      ['jobs(orderBy: { field: PRIORITY, direction: DESC }, after: $c) { nodes { id } }', one.cursor],
      ['jobs(orderBy: { field: CREATED_AT, direction: ASC }, after: $c) { nodes { id } }', one.cursor],
      ['jobs(filter: { name: "x" }, after: $c) { nodes { id } }', one.cursor],
      ['pool { workload { entries(after: $c) { nodes { id } } } }', one.cursor],
      ['jobs(after: $c) { nodes { id } }', jobs.asOf],
      ['jobs(after: $c) { nodes { id } }', one.node.eventCursor],
      ['jobs(after: $c) { nodes { id } }', one.node.runs.edges[0].cursor],
      [`job(id: "${two.node.id}") { runs(after: $c) { nodes { id } } }`, one.node.runs.edges[0].cursor],
      ['jobs(after: $c) { nodes { id } }', forged(['2026-01-01 00:00:00+00'])],
      ['jobs(after: $c) { nodes { id } }', forged(['2026-01-01 00:00:00+00', 'x\u0000'])],
      ['jobs(after: $c) { nodes { id } }', forged(['2026-99-99 00:00:00+00', 'x'])],
      ['jobs(after: $c) { nodes { id } }', forged(["'; DROP TABLE job", 'x'])],
      [`job(id: "${one.node.id}") { logs(from: { cursor: $c }) { text } }`, one.node.eventCursor],
    ]
    for (const [field, cursor] of attempts) {
      const { errors } = await ask(server.url, `query ($c: Cursor!) { ${field} }`, { c: cursor })
      expect([field, errors?.[0]?.extensions.code]).toEqual([field, 'INVALID_CURSOR'])
    }
  })
})

describe('runs', () => {
  it('show the resource usage that the executor reported', async () => {
    const jobId = await server.submit({ resources: { gpu: 0 } })
    const usage = { cpuSeconds: 0.25, maxMemoryBytes: 4_096 }
    const moves: Omit<Move, 'jobId' | 'run'>[] = [
      { from: 'QUEUED', to: 'STARTING', reason: null },
      { from: 'STARTING', to: 'RUNNING', reason: null, ip: '10.0.0.7' },
      { from: 'RUNNING', to: 'SUCCEEDED', reason: null, exitCode: 0, usage },
    ]
    const seen = []
    for (const move of moves) {
      await transition(server.domain.db.sql, [{ jobId, run: 1, ...move }], server.domain.time.nowMs())
      const query =
        'query ($id: ID!) { job(id: $id) { currentRun { ip usage { cpuSeconds maxMemoryBytes gpuSeconds } } } }'
      seen.push((await data(server.url, query, { id: jobId }))['job'].currentRun)
    }
    expect(seen).toEqual([
      { ip: null, usage: null },
      { ip: '10.0.0.7', usage: null },
      { ip: '10.0.0.7', usage: { ...usage, gpuSeconds: 0 } },
    ])
  })

  it('are refused by the field nodes for more than 100 ids', async () => {
    const { errors } = await ask(server.url, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: Array(101).fill('x'),
    })
    expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
  })

  it('are null if no run or job has the id', async () => {
    expect(
      await data(server.url, '{ job(id: "job_x") { id } jobByNativeId(executor: LOCAL, nativeId: "1") { id } }'),
    ).toEqual({
      job: null,
      jobByNativeId: null,
    })
  })
})

describe('mutations', () => {
  const submit = `mutation ($spec: JobSpecInput!) { submitJob(input: { spec: $spec }) {
    __typename
    ... on SubmitJobSuccess { job { id state version } warnings idempotentHit }
    ... on InvalidInputProblem { violations { path message } }
    ... on Problem { code message retryable }
  } }`

  it.each([
    [['spec', 'command'], { command: [] }],
    [['spec', 'resources', 'cpu'], { command: ['true'], resources: { cpu: -1 } }],
    [['spec', 'command', '0'], { command: ['a\u0000b'] }],
    [['spec', 'customAttributes', 'a'], { command: ['true'], customAttributes: { a: '\u0000' } }],
    [['spec', 'name'], { command: ['true'], name: '\ud800' }],
    [['spec', 'dependsOn', '0', 'jobId'], { command: ['true'], dependsOn: [{ jobId: 'job_none' }] }],
  ])('return InvalidInputProblem with the path %j', async (path, spec) => {
    const { submitJob } = await data(server.url, submit, { spec })
    expect(submitJob).toMatchObject({ __typename: 'InvalidInputProblem', code: 'INVALID_INPUT', retryable: false })
    expect(submitJob.violations[0].path).toEqual(path)
  })

  it('refuse JSON that is nested too deeply', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    const body = `{"query":${JSON.stringify(submit)},"variables":{"spec":{"command":["true"],"customAttributes":${deep}}}}`
    const { text } = await send(server.url, { headers: { 'content-type': 'application/json' }, body })
    expect(JSON.parse(text).errors[0].extensions.code).toBe('BAD_REQUEST')
  })

  it('refuse JSON with a number beyond the range of a double', async () => {
    const beyond = '{ "a": [1, { "b": -1e999 }] }'
    const body = `{"query":${JSON.stringify(submit)},"variables":{"spec":{"command":["true"],"customAttributes":${beyond}}}}`
    const { text } = await send(server.url, { headers: { 'content-type': 'application/json' }, body })
    expect(JSON.parse(text).errors[0].message).toContain('must not contain numbers beyond ±1.8e308')
    const literal =
      'mutation { submitJob(input: { spec: { command: ["true"], customAttributes: { a: 1e999 } } }) { __typename } }'
    const { errors } = await ask(server.url, literal)
    expect(errors?.[0]).toMatchObject({
      extensions: { code: expect.stringMatching(/^(BAD_REQUEST|GRAPHQL_VALIDATION_FAILED)$/) },
    })
  })

  it('return one result for each item, in the order of the items', async () => {
    const query = `mutation ($submissions: [SubmitJobInput!]!) { submitJobs(input: { submissions: $submissions }) {
      ... on SubmitJobsSuccess { results { __typename } } ... on InvalidInputProblem { violations { path } } } }`
    const submissions = [{ spec: { command: ['true'] } }, { spec: { command: [] } }, { spec: { command: ['true'] } }]
    const { submitJobs } = await data(server.url, query, { submissions })
    expect(submitJobs.results.map((result: Json) => result.__typename)).toEqual([
      'SubmitJobSuccess',
      'InvalidInputProblem',
      'SubmitJobSuccess',
    ])
    const tooMany = await data(server.url, query, { submissions: Array(1_001).fill(submissions[0]) })
    expect(tooMany['submitJobs'].violations).toEqual([{ path: ['submissions'] }])
  })

  it('submit, cancel and delete a job', async () => {
    const { submitJob } = await data(server.url, submit, { spec: { command: ['true'], name: 'life' } })
    expect(submitJob).toMatchObject({
      __typename: 'SubmitJobSuccess',
      idempotentHit: false,
      job: { state: 'QUEUED', version: 1 },
    })
    const input = { jobId: submitJob.job.id }
    const remove = `mutation ($input: DeleteJobInput!) { deleteJob(input: $input) { __typename ... on InvalidStateProblem { code job { state } } ... on DeleteJobSuccess { deletedId } } }`
    const cancel = `mutation ($input: CancelJobInput!) { cancelJob(input: $input) { __typename
      ... on CancelJobSuccess { changed job { state stateReason allowedActions } } ... on VersionConflictProblem { message currentJob { version } } ... on Problem { code } } }`
    expect((await data(server.url, remove, { input }))['deleteJob']).toMatchObject({
      __typename: 'InvalidStateProblem',
      job: { state: 'QUEUED' },
    })
    expect((await data(server.url, cancel, { input: { ...input, expectedVersion: 7 } }))['cancelJob']).toMatchObject({
      __typename: 'VersionConflictProblem',
      currentJob: { version: 1 },
    })
    expect((await data(server.url, cancel, { input }))['cancelJob']).toEqual({
      __typename: 'CancelJobSuccess',
      changed: true,
      job: { state: 'CANCELLED', stateReason: 'CANCELLED', allowedActions: ['RETRY', 'DELETE'] },
    })
    expect((await data(server.url, cancel, { input }))['cancelJob'].changed).toBe(false)
    expect((await data(server.url, remove, { input }))['deleteJob'].deletedId).toBe(input.jobId)
    expect((await data(server.url, cancel, { input }))['cancelJob'].code).toBe('NOT_FOUND')
  })
})

describe('viewers without job.view.all', () => {
  const asking = (url: string) => (name: string, query: string, variables?: object) =>
    send(url, {
      headers: { 'content-type': 'application/json', authorization: name },
      body: JSON.stringify({ query, variables }),
    }).then(({ text }) => JSON.parse(text))
  const everything = `query ($id: ID!, $run: ID!, $event: ID!) {
    job(id: $id) { id } jobs { nodes { id } totalCount } pool { workload { entries { nodes { id } } byUser { count } } }
    nodes(ids: [$id, $run, $event]) { id } mine: viewer { user { name } }
  }`

  it('do not see the jobs of other users', async () => {
    await using shared = await startServer({ authenticate: (name, known) => known.users.get(name ?? '') ?? null })
    const [ann, eve] = [await shared.user('ann', 'RESEARCHER'), await shared.user('eve', 'RESEARCHER')]
    const id = await shared.submit({}, ann)
    const as = asking(shared.url)
    const own = await as('ann', '{ jobs { nodes { currentRun { id } events { nodes { id } } } } }')
    const [job] = own.data.jobs.nodes
    const ids = { id, run: job.currentRun.id, event: job.events.nodes[0].id }
    expect((await as('eve', everything, ids)).data).toEqual({
      job: null,
      jobs: { nodes: [], totalCount: 0 },
      pool: { workload: { entries: { nodes: [] }, byUser: [] } },
      nodes: [null, null, null],
      mine: { user: { name: eve.userName } },
    })
    for (const field of ['jobStatus', 'tail']) {
      const answer = await as('eve', `subscription ($id: ID!) { ${field}(jobId: $id) { __typename } }`, { id })
      expect(answer.errors[0].extensions.code).toBe('NOT_FOUND')
    }
    const cancel = 'mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { ... on Problem { code } } }'
    expect((await as('eve', cancel, { id })).data.cancelJob.code).toBe('NOT_FOUND')
  })

  it('do not see the approvals, slots or dependents of other users', async () => {
    await using shared = await startServer({ authenticate: (name, known) => known.users.get(name ?? '') ?? null })
    const [ann, eve] = [await shared.user('ann', 'RESEARCHER'), await shared.user('eve', 'RESEARCHER')]
    const boss = await shared.user('boss', 'LEAD')
    const asked = await submitBlocked(shared, ann)
    const slot = await reserveSlot(shared.domain, ann, {})
    const id = await shared.submit({}, eve)
    const after = await shared.submit({ dependsOn: [{ jobId: id }] }, boss)
    const as = asking(shared.url)
    const lists = 'approvals { nodes { id job { id } } totalCount } slotReservations { nodes { id } totalCount }'
    const own = await as('ann', `{ ${lists} }`)
    const [approval] = own.data.approvals.nodes
    const seen = `{ ${lists} nodes(ids: ["${approval.id}", "${slot}"]) { id }
      job(id: "${id}") { dependents { nodes { id } totalCount } } }`
    const all = {
      approvals: { nodes: [{ id: approval.id, job: { id: asked } }], totalCount: 1 },
      slotReservations: { nodes: [{ id: slot }], totalCount: 1 },
      nodes: [{ id: approval.id }, { id: slot }],
    }
    const none = { nodes: [], totalCount: 0 }
    expect((await as('ann', seen)).data).toEqual({ ...all, job: null })
    expect((await as('boss', seen)).data).toEqual({
      ...all,
      job: { dependents: { nodes: [{ id: after }], totalCount: 1 } },
    })
    expect((await as('eve', seen)).data).toEqual({
      approvals: none,
      slotReservations: none,
      nodes: [null, null],
      job: { dependents: none },
    })
  })

  it('do not see the environment values of other users', async () => {
    const eve = await server.user('eve', 'RESEARCHER')
    const environment = [{ name: 'SECRET', value: 'xyz' }]
    const ids = [await server.submit({ environment }, eve), await server.submit({ environment })]
    const { nodes } = await data(
      server.url,
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Job { spec { environment { value } } } } }',
      { ids },
    )
    expect(nodes.map((node: Json) => node.spec.environment[0].value)).toEqual(['•••', 'xyz'])
  })
})
