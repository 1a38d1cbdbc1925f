import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { createRunViewer } from '../../../src/domain/inside/run-tokens.ts'
import { type Json, transports } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { type Verb, verbs } from './problem-documents.ts'
import { createWorld, type World } from './problems-world.ts'

/**
 * Produces every problem of every mutation's result union, and of `previewJob`. A member without a case fails, and so
 * does a case without a member.
 */

type Arguments = (world: World) => { input: object }
interface Case {
  /** The caller; default: an ADMIN who is not the submitter. */
  as?: 'viewer' | 'rita' | 'run'
  args: Arguments
}

const nowhere = 'job_00000000000000000000000000'
const input =
  (make: (world: World) => object): Arguments =>
  (world) => ({ input: make(world) })
const at = '2030-01-01T00:00:00Z'
const artifact = { name: 'a', mediaType: 'text/plain', body: 'x' }
const reservation = {
  name: 'r',
  pool: 'sim',
  project: 'p',
  nodeIds: ['node_1'],
  startsAt: at,
  endsAt: '2030-01-02T00:00:00Z',
}

/** Valid arguments of each mutation; refused for a VIEWER and during an outage. */
const good: Record<string, Arguments> = {
  submitJob: input(() => ({ spec: { command: ['true'] } })),
  submitJobs: input(() => ({ submissions: [{ spec: { command: ['true'] } }, { spec: { command: ['false'] } }] })),
  retryJob: input(({ final }) => ({ jobId: final })),
  previewJob: input(() => ({ submit: { spec: { command: ['true'] } } })),
  cancelJob: input(({ queued }) => ({ jobId: queued })),
  cancelJobs: input(({ queued }) => ({ selection: { jobIds: [queued, nowhere] } })),
  deleteJobs: input(({ final }) => ({ selection: { jobIds: [final, nowhere] } })),
  retryJobs: input(({ final }) => ({ selection: { jobIds: [final, nowhere] } })),
  setJobPriorities: input(({ queued }) => ({ selection: { jobIds: [queued, nowhere] }, priority: 1 })),
  deleteJob: input(({ final }) => ({ jobId: final })),
  approveJob: input(({ blocked }) => ({ jobId: blocked, expectedVersion: 2 })),
  rejectJob: input(({ blocked }) => ({ jobId: blocked, reason: 'no', expectedVersion: 2 })),
  approveJobs: input(({ blocked }) => ({ decisions: [{ jobId: blocked, expectedVersion: 2 }] })),
  rejectJobs: input(({ blocked }) => ({ decisions: [{ jobId: blocked, reason: 'no', expectedVersion: 2 }] })),
  setJobPriority: input(({ queued }) => ({ jobId: queued, priority: 1 })),
  reserveSlot: input(() => ({})),
  releaseSlot: input(() => ({ slotReservationId: 'slot_1' })),
  updateLimits: input(() => ({ maxConcurrent: 5 })),
  setScopeLimit: input(() => ({ scope: { project: 'p' }, maxJobs: 1 })),
  planPools: input(() => ({})),
  createUser: input(() => ({ name: 'new', level: 'VIEWER' })),
  updateUser: input(({ user }) => ({ userId: user, displayName: 'U' })),
  disableUser: input(({ user }) => ({ userId: user })),
  createTeam: input(() => ({ name: 'new' })),
  updateTeam: input(({ team }) => ({ teamId: team, name: 'other' })),
  deleteTeam: input(({ team }) => ({ teamId: team })),
  saveView: input(() => ({ name: 'mine', page: '/jobs', search: 'user=me' })),
  deleteView: input(({ savedView }) => ({ savedViewId: savedView })),
  setSecret: input(() => ({ name: 'A', value: 'x' })),
  deleteSecret: input(() => ({ name: 'A' })),
  createToken: input(({ user }) => ({ name: 't', userId: user })),
  revokeToken: input(() => ({ tokenId: 'token_1' })),
  createDownload: input(({ final }) => ({ log: { jobId: final } })),
  openSession: input(({ queued }) => ({ jobId: queued })),
  openForward: input(({ queued }) => ({ jobId: queued, port: 80 })),
  endSession: input(() => ({ sessionId: 'session_1' })),
  createSnapshot: input(() => ({ hash: '0'.repeat(64), files: 1, bytes: 1 })),
  createQuota: input(() => ({ type: 'JOBS_PER_DAY', action: 'WARN', limit: 5 })),
  updateQuota: input(({ quota }) => ({ quotaId: quota, limit: 2 })),
  deleteQuota: input(({ quota }) => ({ quotaId: quota })),
  testWebhook: input(() => ({ webhook: 'ci' })),
  resendWebhookDeliveries: input(() => ({ webhook: 'ci' })),
  enableWebhook: input(() => ({ webhook: 'ci' })),
  createApprovalRule: input(() => ({ name: 'dear', condition: { costAbove: 50 } })),
  updateApprovalRule: input(({ rule }) => ({ approvalRuleId: rule, priority: 1 })),
  deleteApprovalRule: input(({ rule }) => ({ approvalRuleId: rule })),
  addNode: input(() => ({ pool: 'sim', name: 'n2', cpu: 1, memoryBytes: 1 * 2 ** 30 })),
  updateNode: input(({ node }) => ({ nodeId: node, state: 'CORDONED' })),
  deleteNode: input(({ node }) => ({ nodeId: node })),
  createCapacityReservation: input(() => reservation),
  deleteCapacityReservation: input(() => ({ capacityReservationId: 'reservation_1' })),
  reportProgress: input(() => ({ fraction: 1 })),
  publishArtifact: input(() => artifact),
  saveClosure: input(() => ({ closure: {} })),
}

const unknownJob = (more: object = {}): Case => ({ args: input(() => ({ jobId: nowhere, ...more })) })
/** `field` is named after the type: quotaId. */
const unknownId = (field: string, more: object = {}): Case => ({
  args: input(() => ({ [field]: `${field.slice(0, -2)}_00000000000000000000000000`, ...more })),
})
const job = (make: (world: World) => object, as?: Case['as']): Case => ({ args: input(make), ...(as && { as }) })
const stale = { expectedVersion: 99 }
const long = 'x'.repeat(1_001)

const decisions = (words: object, tooLong: object): Record<string, Case> => ({
  NotFound: unknownJob({ ...words, expectedVersion: 1 }),
  ApprovalNotAllowed: job(({ own }) => ({ jobId: own, ...words, expectedVersion: 2 })),
  InvalidState: job(({ queued }) => ({ jobId: queued, ...words, expectedVersion: 1 })),
  VersionConflict: job(({ blocked }) => ({ jobId: blocked, ...words, ...stale })),
  InvalidInput: job(({ blocked }) => ({ jobId: blocked, ...tooLong, expectedVersion: 2 })),
})

const sessions = (right: object, wrong: object): Record<string, Case> => ({
  NotFound: unknownJob(right),
  InvalidState: job(({ queued }) => ({ jobId: queued, ...right })),
  InvalidInput: job(({ queued }) => ({ jobId: queued, ...wrong })),
})

const submissions: Record<string, Case> = {
  InvalidInput: job(() => ({ spec: { command: [] } })),
  IdempotencyConflict: job(() => ({ spec: { command: ['other'] }, idempotencyKey: 'taken' })),
  QuotaExceeded: job(() => ({ spec: { command: ['true'] } }), 'rita'),
  ReservationExpired: job(() => ({ spec: { command: ['true'] }, slotReservationId: 'slot_1' })),
  Rejected: job(() => ({ spec: { command: ['true'] }, noWait: true, requiresApproval: true })),
}

const retries: Record<string, Case> = {
  InvalidInput: job(({ final }) => ({ jobId: final, overrides: { command: [] } })),
  NotFound: unknownJob(),
  InvalidState: job(({ queued }) => ({ jobId: queued })),
  VersionConflict: job(({ final }) => ({ jobId: final, ...stale })),
  IdempotencyConflict: job(({ final }) => ({ jobId: final, idempotencyKey: 'taken' })),
  ReservationExpired: job(({ final }) => ({ jobId: final, slotReservationId: 'slot_1' })),
  QuotaExceeded: job(({ over }) => ({ jobId: over }), 'rita'),
  Rejected: job(({ final }) => ({ jobId: final, noWait: true, overrides: { estimatedCost: 50 } })),
}

/** The same cases for `previewJob`, which ignores `noWait`. */
const previewsOf = (name: 'submit' | 'retry', { Rejected: _, ...all }: Record<string, Case>): Record<string, Case> =>
  Object.fromEntries(
    Object.entries(all).map(([member, { args, ...one }]) => [
      member,
      { ...one, args: (world: World) => ({ input: { [name]: args(world).input } }) },
    ]),
  )

/** Other problems by mutation and member. Bulk mutations share the union of the single mutation. */
const cases: Record<string, Record<string, Case>> = {
  submitJob: submissions,
  retryJob: retries,
  previewJob: { ...previewsOf('retry', retries), ...previewsOf('submit', submissions) },
  cancelJob: {
    NotFound: unknownJob(),
    VersionConflict: job(({ queued }) => ({ jobId: queued, ...stale })),
    InvalidInput: job(({ queued }) => ({ jobId: queued, reason: long })),
  },
  deleteJob: {
    NotFound: unknownJob(),
    InvalidState: job(({ queued }) => ({ jobId: queued })),
    VersionConflict: job(({ final }) => ({ jobId: final, ...stale })),
  },
  approveJob: decisions({}, { comment: long }),
  rejectJob: decisions({ reason: 'no' }, { reason: long }),
  setJobPriority: {
    InvalidInput: job(({ queued }) => ({ jobId: queued, priority: 51 })),
    NotFound: unknownJob(),
    InvalidState: job(({ final }) => ({ jobId: final, priority: 1 })),
    VersionConflict: job(({ queued }) => ({ jobId: queued, priority: 1, ...stale })),
  },
  reserveSlot: {
    InvalidInput: job(() => ({ ttlSeconds: 0 })),
    QuotaExceeded: job(() => ({}), 'rita'),
  },
  releaseSlot: { NotFound: unknownId('slotReservationId') },
  updateLimits: {
    InvalidInput: job(() => ({ maxConcurrent: -1 })),
    NotFound: job(() => ({ pool: 'no', maxConcurrent: 1 })),
    VersionConflict: job(() => ({ maxConcurrent: 1, ...stale })),
  },
  setScopeLimit: {
    InvalidInput: job(() => ({ scope: { project: 'p' }, maxJobs: -1 })),
    NotFound: job(() => ({ pool: 'no', scope: { project: 'p' }, maxJobs: 1 })),
    VersionConflict: job(() => ({ scope: { project: 'p' }, maxJobs: 1, ...stale })),
  },
  planPools: { NotFound: job(() => ({ pool: 'no' })) },
  createUser: { InvalidInput: job(() => ({ name: '', level: 'VIEWER' })) },
  updateUser: {
    InvalidInput: job(({ user }) => ({ userId: user, displayName: '' })),
    NotFound: unknownId('userId', { displayName: 'U' }),
    VersionConflict: job(({ user }) => ({ userId: user, displayName: 'U', ...stale })),
  },
  disableUser: {
    InvalidInput: job(({ self }) => ({ userId: self })),
    NotFound: unknownId('userId'),
    VersionConflict: job(({ user }) => ({ userId: user, ...stale })),
  },
  deleteTeam: { NotFound: unknownId('teamId'), VersionConflict: job(({ team }) => ({ teamId: team, ...stale })) },
  deleteQuota: { NotFound: unknownId('quotaId'), VersionConflict: job(({ quota }) => ({ quotaId: quota, ...stale })) },
  deleteApprovalRule: {
    NotFound: unknownId('approvalRuleId'),
    VersionConflict: job(({ rule }) => ({ approvalRuleId: rule, ...stale })),
  },
  deleteNode: { NotFound: unknownId('nodeId'), VersionConflict: job(({ node }) => ({ nodeId: node, ...stale })) },
  createTeam: { InvalidInput: job(() => ({ name: '' })) },
  updateTeam: {
    InvalidInput: job(({ team }) => ({ teamId: team, name: '' })),
    NotFound: unknownId('teamId', { name: 'x' }),
    VersionConflict: job(({ team }) => ({ teamId: team, name: 'x', ...stale })),
  },
  saveView: {
    InvalidInput: job(() => ({ name: 'v', page: 'jobs', search: '' })),
    NotFound: unknownId('savedViewId', { name: 'v', page: '/jobs', search: '' }),
    VersionConflict: job(({ savedView }) => ({
      savedViewId: savedView,
      name: 'v',
      page: '/jobs',
      search: '',
      ...stale,
    })),
  },
  deleteView: {
    NotFound: unknownId('savedViewId'),
    VersionConflict: job(({ savedView }) => ({ savedViewId: savedView, ...stale })),
  },
  setSecret: {
    InvalidInput: job(() => ({ name: 'PATH', value: 'x' })),
    NotFound: unknownId('teamId', { name: 'A', value: 'x' }),
  },
  deleteSecret: {
    InvalidInput: job(() => ({ name: '' })),
    NotFound: unknownId('teamId', { name: 'A' }),
  },
  createToken: {
    InvalidInput: job(({ user }) => ({ name: '', userId: user })),
    NotFound: job(() => ({ name: 't', userId: 'user_00000000000000000000000000' })),
  },
  revokeToken: { NotFound: unknownId('tokenId') },
  createDownload: {
    NotFound: job(() => ({ log: { jobId: 'job_00000000000000000000000000' } })),
    InvalidInput: job(({ final }) => ({ log: { jobId: final, run: 0 } })),
  },
  openSession: sessions({}, { size: { columns: 0, rows: 1 } }),
  openForward: sessions({ port: 80 }, { port: 0 }),
  endSession: { NotFound: unknownId('sessionId') },
  createSnapshot: { InvalidInput: job(() => ({ hash: '0'.repeat(64), files: 0, bytes: 1 })) },
  createQuota: {
    InvalidInput: job(() => ({ type: 'JOBS_PER_DAY', action: 'WARN', limit: -1 })),
    NotFound: job(() => ({ type: 'JOBS_PER_DAY', action: 'WARN', scope: { team: { name: 'nobody' } }, limit: 1 })),
  },
  updateQuota: {
    InvalidInput: job(({ quota }) => ({ quotaId: quota, limit: -1 })),
    NotFound: unknownId('quotaId', { limit: 1 }),
    VersionConflict: job(({ quota }) => ({ quotaId: quota, limit: 1, ...stale })),
  },
  createApprovalRule: { InvalidInput: job(() => ({ name: '', condition: { costAbove: 50 } })) },
  updateApprovalRule: {
    InvalidInput: job(({ rule }) => ({ approvalRuleId: rule, name: '' })),
    NotFound: unknownId('approvalRuleId', { priority: 1 }),
    VersionConflict: job(({ rule }) => ({ approvalRuleId: rule, priority: 1, ...stale })),
  },
  addNode: {
    InvalidInput: job(() => ({ pool: 'sim', name: 'n2', cpu: -1, memoryBytes: 1 * 2 ** 30 })),
    NotFound: job(() => ({ pool: 'no', name: 'n2', cpu: 1, memoryBytes: 1 * 2 ** 30 })),
  },
  updateNode: {
    InvalidInput: job(({ node }) => ({ nodeId: node, state: 'LOST' })),
    NotFound: unknownId('nodeId', { state: 'READY' }),
    VersionConflict: job(({ node }) => ({ nodeId: node, state: 'READY', ...stale })),
  },
  createCapacityReservation: {
    InvalidInput: job(() => ({ ...reservation, nodeIds: [] })),
    NotFound: job(() => ({ ...reservation, pool: 'no' })),
  },
  deleteCapacityReservation: { NotFound: unknownId('capacityReservationId') },
  testWebhook: { NotFound: job(() => ({ webhook: 'none' })), InvalidInput: job(() => ({ webhook: 'ended' })) },
  resendWebhookDeliveries: {
    NotFound: job(() => ({ webhook: 'none' })),
    InvalidInput: job(() => ({ webhook: 'ci', deliveryIds: [] })),
  },
  enableWebhook: { NotFound: job(() => ({ webhook: 'none' })) },
  reportProgress: { InvalidInput: job(() => ({ fraction: 2 }), 'run') },
  publishArtifact: { InvalidInput: job(() => ({ ...artifact, name: '' }), 'run') },
  saveClosure: { InvalidInput: job(() => ({ closure: { x: 'x'.repeat(262_144) } }), 'run') },
}

const oneOf: Record<string, string> = {
  submitJobs: 'submitJob',
  cancelJobs: 'cancelJob',
  deleteJobs: 'deleteJob',
  retryJobs: 'retryJob',
  setJobPriorities: 'setJobPriority',
  approveJobs: 'approveJob',
  rejectJobs: 'rejectJob',
}

/** Problems that unsatisfiable.test.ts and test/sessions produce. */
const elsewhere = ['previewJob Rejected', 'openSession QuotaExceeded', 'openForward QuotaExceeded']

/** A VIEWER may save views. */
const forViewers = ['saveView']

/** Mutations of a job, with the token of its run. */
const jobVerbs = ['reportProgress', 'publishArtifact', 'saveClosure', 'createSnapshot']

describe('a problem type of a mutation', () => {
  let server: TestServer
  let world: World
  beforeAll(async () => {
    const users = {
      hasDoor: true,
      authenticate: (name: string | undefined, known: Known) =>
        name === 'run'
          ? createRunViewer(world.run, { ip: null, requestId: null })
          : (known.users.get(name ?? '') ?? null),
    }
    server = await startServer({ ...users, facts: { singleUser: false }, singleUser: false })
    world = await createWorld(server)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  async function ask({ name, document }: Verb, { as, args }: Case): Promise<Json[]> {
    const { data, errors } = await transports.http(server.url, document, args(world), { authorization: as ?? 'ada' })
    if (errors) throw new Error(JSON.stringify(errors))
    const answer = data?.[name]
    return answer.results?.map((each: Json) => each.result ?? each) ?? [answer]
  }

  it('has a test case if the union of the mutation contains it, and otherwise none', () => {
    const findCase = (verb: string, member: string) =>
      ['Unavailable', 'Forbidden'].includes(member)
        ? good[verb]
        : (cases[oneOf[verb] ?? verb]?.[member] ?? elsewhere.includes(`${verb} ${member}`))
    const missing = verbs.flatMap(({ name, members }) =>
      members.filter((each) => !findCase(name, each)).map((each) => `${name} ${each}`),
    )
    expect(missing).toEqual([])
    const extra = Object.entries(cases).flatMap(([name, byMember]) =>
      Object.keys(byMember)
        .filter((each) => !verbs.find((verb) => verb.name === name)?.members.includes(each))
        .map((each) => `${name} ${each}`),
    )
    expect(extra).toEqual([])
  })

  const produced = verbs.flatMap((verb) =>
    Object.entries(cases[verb.name] ?? {}).map(([member, one]) => [verb.name, member, verb, one] as const),
  )
  it.each(produced)('is returned: %s returns %sProblem', async (_name, member, verb, one) => {
    expect(await ask(verb, one)).toMatchObject([{ __typename: `${member}Problem` }])
  })

  it.each(verbs.filter(({ name }) => !forViewers.includes(name)).map((verb) => [verb.name, verb] as const))(
    'is returned: %s returns ForbiddenProblem for a VIEWER',
    async (name, verb) => {
      const answers = await ask(verb, { as: 'viewer', args: good[name] as Arguments })
      // An object that a VIEWER may not see is NotFound.
      for (const answer of answers) expect(answer.__typename).toMatch(/^(Forbidden|NotFound)Problem$/)
    },
  )

  it('is UnavailableProblem during a database outage, once for each item', async () => {
    await server.door?.shut()
    const answers = await Promise.all(
      verbs.map((verb) => {
        const args = good[verb.name] as Arguments
        return ask(verb, jobVerbs.includes(verb.name) ? { args, as: 'run' } : { args }).catch(String)
      }),
    )
    await server.door?.open()
    const expected = { __typename: 'UnavailableProblem', code: 'UNAVAILABLE', retryable: true }
    const wrong = answers.flatMap((each, index) =>
      Array.isArray(each) && each.every((one) => one.__typename === expected.__typename && one.retryable === true)
        ? []
        : [[verbs[index]?.name, each]],
    )
    expect(wrong).toEqual([])
    expect(answers[verbs.findIndex(({ name }) => name === 'submitJobs')]).toHaveLength(2)
  })
})

interface Known {
  users: ReadonlyMap<string, Viewer>
}
