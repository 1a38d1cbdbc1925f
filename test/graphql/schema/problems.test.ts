import { getNamedType, isObjectType, isUnionType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/domain/access.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import { type Json, transports } from '../../support/client.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/**
 * Produces every problem of every mutation's result union. A member without a case fails, and so does a case without a
 * member.
 */

/** Ids of the existing objects. */
interface World {
  queued: string
  final: string
  blocked: string
  own: string
  quota: string
  rule: string
  team: string
  user: string
  node: string
}

type Arguments = (world: World) => object
interface Case {
  /** The caller; default: an ADMIN who is not the submitter. */
  as?: 'viewer' | 'rita'
  args: Arguments
}

const nowhere = 'job_00000000000000000000000000'
const input =
  (make: (world: World) => object): Arguments =>
  (world) => ({ input: make(world) })
const at = '2030-01-01T00:00:00Z'
const reservation = {
  name: 'r',
  pool: 'sim',
  project: 'p',
  nodes: ['n1'],
  startsAt: at,
  endsAt: '2030-01-02T00:00:00Z',
}

/** Valid arguments of each mutation; refused for a VIEWER and during an outage. */
const good: Record<string, Arguments> = {
  submitJob: input(() => ({ spec: { command: ['true'] } })),
  submitJobs: () => ({ inputs: [{ spec: { command: ['true'] } }, { spec: { command: ['false'] } }] }),
  retryJob: input(({ final }) => ({ jobId: final })),
  cancelJob: input(({ queued }) => ({ jobId: queued })),
  cancelJobs: input(({ queued }) => ({ jobIds: [queued, nowhere] })),
  deleteJob: input(({ final }) => ({ jobId: final })),
  approveJob: input(({ blocked }) => ({ jobId: blocked, expectedVersion: 2 })),
  rejectJob: input(({ blocked }) => ({ jobId: blocked, reason: 'no', expectedVersion: 2 })),
  approveJobs: input(({ blocked }) => ({ decisions: [{ jobId: blocked, expectedVersion: 2 }] })),
  rejectJobs: input(({ blocked }) => ({ decisions: [{ jobId: blocked, reason: 'no', expectedVersion: 2 }] })),
  setJobPriority: input(({ queued }) => ({ jobId: queued, priority: 1 })),
  reserveSlot: input(() => ({})),
  releaseSlot: () => ({ id: 'slot_1' }),
  updateLimits: input(() => ({ maxConcurrent: 5 })),
  setScopeLimit: input(() => ({ scope: 'PROJECT', name: 'p', maxJobs: 1 })),
  cleanupJobs: () => ({ olderThanDays: 30 }),
  createUser: input(() => ({ name: 'new', level: 'VIEWER' })),
  updateUser: input(({ user }) => ({ id: user, displayName: 'U' })),
  deleteUser: input(({ user }) => ({ id: user })),
  createTeam: input(() => ({ name: 'new' })),
  updateTeam: input(({ team }) => ({ id: team, name: 'other' })),
  deleteTeam: input(({ team }) => ({ id: team })),
  createToken: input(({ user }) => ({ name: 't', userId: user })),
  revokeToken: () => ({ id: 'token_1' }),
  createQuota: input(() => ({ type: 'JOBS_PER_DAY', action: 'WARN', scope: 'GLOBAL', limit: 5 })),
  updateQuota: input(({ quota }) => ({ id: quota, limit: 2 })),
  deleteQuota: input(({ quota }) => ({ id: quota })),
  createApprovalRule: input(() => ({ name: 'dear', condition: { costAbove: 50 } })),
  updateApprovalRule: input(({ rule }) => ({ id: rule, priority: 1 })),
  deleteApprovalRule: input(({ rule }) => ({ id: rule })),
  addNode: input(() => ({ pool: 'sim', name: 'n2', cpu: 1, memoryGib: 1 })),
  updateNode: input(({ node }) => ({ id: node, state: 'CORDONED' })),
  removeNode: input(({ node }) => ({ id: node })),
  createCapacityReservation: input(() => reservation),
  deleteCapacityReservation: input(() => ({ id: 'reservation_1' })),
}

const unknownJob = (more: object = {}): Case => ({ args: input(() => ({ jobId: nowhere, ...more })) })
const unknownId = (prefix: string, more: object = {}): Case => ({
  args: input(() => ({ id: `${prefix}_00000000000000000000000000`, ...more })),
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
}

/** Other problems by mutation and member. Bulk mutations share the union of the single mutation. */
const cases: Record<string, Record<string, Case>> = {
  submitJob: submissions,
  retryJob: retries,
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
  releaseSlot: { NotFound: { args: () => ({ id: 'slot_00000000000000000000000000' }) } },
  updateLimits: {
    InvalidInput: job(() => ({ maxConcurrent: -1 })),
    NotFound: job(() => ({ pool: 'no', maxConcurrent: 1 })),
  },
  setScopeLimit: {
    InvalidInput: job(() => ({ scope: 'PROJECT', name: 'p', maxJobs: -1 })),
    NotFound: job(() => ({ pool: 'no', scope: 'PROJECT', name: 'p', maxJobs: 1 })),
  },
  cleanupJobs: { InvalidInput: { args: () => ({ olderThanDays: 0 }) } },
  createUser: { InvalidInput: job(() => ({ name: '', level: 'VIEWER' })) },
  updateUser: {
    InvalidInput: job(({ user }) => ({ id: user, allow: ['no.such'] })),
    NotFound: unknownId('user', { displayName: 'U' }),
  },
  deleteUser: { NotFound: unknownId('user') },
  deleteTeam: { NotFound: unknownId('team') },
  deleteQuota: { NotFound: unknownId('quota') },
  deleteApprovalRule: { NotFound: unknownId('rule') },
  removeNode: { NotFound: unknownId('node') },
  createTeam: { InvalidInput: job(() => ({ name: '' })) },
  updateTeam: { InvalidInput: job(({ team }) => ({ id: team, name: '' })), NotFound: unknownId('team', { name: 'x' }) },
  createToken: {
    InvalidInput: job(({ user }) => ({ name: '', userId: user })),
    NotFound: job(() => ({ name: 't', userId: 'user_00000000000000000000000000' })),
  },
  revokeToken: { NotFound: { args: () => ({ id: 'token_00000000000000000000000000' }) } },
  createQuota: {
    InvalidInput: job(() => ({ type: 'JOBS_PER_DAY', action: 'WARN', scope: 'GLOBAL', limit: -1 })),
    NotFound: job(() => ({ type: 'JOBS_PER_DAY', action: 'WARN', scope: 'TEAM', key: 'nobody', limit: 1 })),
  },
  updateQuota: {
    InvalidInput: job(({ quota }) => ({ id: quota, limit: -1 })),
    NotFound: unknownId('quota', { limit: 1 }),
  },
  createApprovalRule: { InvalidInput: job(() => ({ name: '', condition: { costAbove: 50 } })) },
  updateApprovalRule: {
    InvalidInput: job(({ rule }) => ({ id: rule, name: '' })),
    NotFound: unknownId('rule', { priority: 1 }),
  },
  addNode: {
    InvalidInput: job(() => ({ pool: 'sim', name: 'n2', cpu: -1, memoryGib: 1 })),
    NotFound: job(() => ({ pool: 'no', name: 'n2', cpu: 1, memoryGib: 1 })),
  },
  updateNode: {
    InvalidInput: job(({ node }) => ({ id: node, state: 'LOST' })),
    NotFound: unknownId('node', { state: 'READY' }),
  },
  createCapacityReservation: {
    InvalidInput: job(() => ({ ...reservation, nodes: [] })),
    NotFound: job(() => ({ ...reservation, pool: 'no' })),
  },
  deleteCapacityReservation: { NotFound: unknownId('reservation') },
}

const oneOf: Record<string, string> = {
  submitJobs: 'submitJob',
  cancelJobs: 'cancelJob',
  approveJobs: 'approveJob',
  rejectJobs: 'rejectJob',
}

/** Members of a shared union, with the mutation that produces them. */
const producedBy: Record<string, string> = {
  'submitJob NotFound': 'retryJob',
  'submitJob InvalidState': 'retryJob',
  'submitJob VersionConflict': 'retryJob',
  'retryJob QuotaExceeded': 'submitJob',
  'retryJob Rejected': 'submitJob',
  'deleteUser InvalidInput': 'updateUser',
  'deleteTeam InvalidInput': 'updateTeam',
  'deleteQuota InvalidInput': 'updateQuota',
  'deleteApprovalRule InvalidInput': 'updateApprovalRule',
  'removeNode InvalidInput': 'updateNode',
  'deleteCapacityReservation InvalidInput': 'createCapacityReservation',
}

// ── the schema ──

interface Verb {
  name: string
  document: string
  members: string[]
}

const verbs: Verb[] = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap((field) => {
  const type = getNamedType(field.type)
  const results = isObjectType(type) ? type.getFields()['results'] : undefined
  const union = results ? getNamedType(results.type) : type
  if (!isUnionType(union)) return []
  const members = union.getTypes().flatMap(({ name }) => name.match(/^(\w+)Problem$/)?.[1] ?? [])
  const wanted = '__typename ... on Problem { code message retryable }'
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
  const given = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
  const selected = results ? `results { ${wanted} }` : wanted
  return [{ name: field.name, members, document: `mutation (${declared}) { ${field.name}(${given}) { ${selected} } }` }]
})

describe('a problem', () => {
  let server: TestServer
  let world: World
  beforeAll(async () => {
    const users = {
      hasDoor: true,
      authenticate: (name: string | undefined, known: Known) => known.users.get(name ?? '') ?? null,
    }
    server = await startServer({ ...users, facts: { singleUser: false }, singleUser: false })
    world = await createWorld(server)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  async function ask({ name, document }: Verb, { as, args }: Case): Promise<Json[]> {
    const { data, errors } = await transports.http(server.url, document, args(world), { authorization: as ?? 'ada' })
    if (errors) throw new Error(JSON.stringify(errors))
    const answer = data?.[name]
    return answer.results ?? [answer]
  }

  it('has a case if and only if the union contains it', () => {
    const findCase = (verb: string, member: string) =>
      ['Unavailable', 'Forbidden'].includes(member)
        ? good[verb]
        : (cases[oneOf[verb] ?? verb]?.[member] ?? producedBy[`${oneOf[verb] ?? verb} ${member}`])
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
  it.each(produced)('%s returns %sProblem', async (_name, member, verb, one) => {
    expect(await ask(verb, one)).toMatchObject([{ __typename: `${member}Problem` }])
  })

  it.each(verbs.map((verb) => [verb.name, verb] as const))(
    '%s returns ForbiddenProblem for a VIEWER',
    async (name, verb) => {
      const answers = await ask(verb, { as: 'viewer', args: good[name] as Arguments })
      // An object that a VIEWER may not see is NotFound.
      for (const answer of answers) expect(answer.__typename).toMatch(/^(Forbidden|NotFound)Problem$/)
    },
  )

  it('is only UnavailableProblem, once per item, during a database outage', async () => {
    await server.door?.shut()
    const answers = await Promise.all(
      verbs.map((verb) => ask(verb, { args: good[verb.name] as Arguments }).catch(String)),
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

async function createWorld(server: TestServer): Promise<World> {
  const ada = await server.user('ada', 'ADMIN')
  const rita = await server.user('rita', 'RESEARCHER')
  const viewer = await server.user('viewer', 'VIEWER')
  const asked = async (document: string, variables: object = {}): Promise<Json> => {
    const { data, errors } = await transports.http(server.url, document, variables, { authorization: 'ada' })
    if (errors) throw new Error(JSON.stringify(errors))
    return Object.values(data ?? {})[0]
  }
  const blockedBy = async (name: string) => {
    const document =
      'mutation { submitJob(input: { spec: { command: ["true"] }, requiresApproval: true }) { ... on SubmitJobSuccess { job { id } } } }'
    const { data } = await transports.http(server.url, document, {}, { authorization: name })
    return data?.['submitJob'].job.id
  }
  const [queued, final] = [await server.submit({}, rita), await server.submit({}, ada)]
  await asked('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id: final })
  await asked('mutation { submitJob(input: { spec: { command: ["first"] }, idempotencyKey: "taken" }) { __typename } }')
  const [blocked, own] = [await blockedBy('rita'), await blockedBy('ada')]
  const quota = await asked(
    'mutation { createQuota(input: { type: CONCURRENT_JOBS, action: BLOCK, scope: USER, key: "rita", limit: 1 }) { ... on CreateQuotaSuccess { quota { id } } } }',
  )
  const rule = await asked(
    'mutation { createApprovalRule(input: { name: "r", condition: { costAbove: 9 } }) { ... on CreateApprovalRuleSuccess { rule { id } } } }',
  )
  const team = await asked('mutation { createTeam(input: { name: "t" }) { ... on CreateTeamSuccess { team { id } } } }')
  const pools = await asked('{ pools { nodes { nodes { id } } } }')
  return {
    queued,
    final,
    blocked,
    own,
    quota: quota.quota.id,
    rule: rule.rule.id,
    team: team.team.id,
    user: viewer.userId,
    node: pools[0].nodes.nodes[0].id,
  }
}
