import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Permission, permissionsOf, type TokenScope, tokenScopes, userLevels } from '../../../src/domain/access.ts'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import type { Json } from '../../support/client.ts'
import { bearer, mutate, type Person, personWith } from '../../support/people.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/**
 * Who may call what: every root field of the schema has a line here, and the test fails when one is missing. Each is
 * called by somebody without a token, by every level, and by an ADMIN with a token of every single scope.
 *
 *   LOG_IN_PAGE  whoever comes; what of it is shown to strangers has tests of its own
 *   KNOWN        whoever has logged in; the answer holds what they may see
 *   RUN          a job with the token of its run, and no person (inside.test.ts)
 *   a permission whoever has it, by a token with its scope; the others get FORBIDDEN with its name, or the scope's
 *   [permission] the same, but to those without it the object may also look as if it were not there
 *
 * A new field: add its line. Arguments are made up from their types, so a verb must ask for the permission before it
 * looks at what it was given; where it needs the object first, put the permission into brackets.
 */
type Who = 'LOG_IN_PAGE' | 'KNOWN' | 'RUN' | Permission | readonly [Permission]

const access: Record<string, Who> = {
  'Query.serverInfo': 'LOG_IN_PAGE',
  'Query.node': 'KNOWN',
  'Query.nodes': 'KNOWN',
  'Query.viewer': 'KNOWN',
  'Query.job': 'KNOWN',
  'Query.jobs': 'KNOWN',
  'Query.jobByNativeId': 'KNOWN',
  'Query.jobByIdempotencyKey': 'KNOWN',
  'Query.idempotencyKey': 'KNOWN',
  'Query.queue': 'KNOWN',
  'Query.approvals': 'KNOWN',
  'Query.system': 'KNOWN',
  'Query.pools': 'KNOWN',
  'Query.submissionQueues': 'KNOWN',
  'Query.slotReservations': 'KNOWN',
  'Query.limits': 'KNOWN',
  'Query.quotas': 'KNOWN',
  'Query.approvalRules': 'KNOWN',
  'Query.capacityReservations': 'KNOWN',
  'Query.users': 'KNOWN',
  'Query.teams': 'KNOWN',
  'Query.tokens': 'KNOWN',
  'Query.auditLog': 'audit.read',
  'Query.verifyAudit': 'audit.read',
  'Query.selfCheck': 'job.view.all',

  'Mutation.submitJob': 'job.submit',
  'Mutation.submitJobs': 'job.submit',
  'Mutation.retryJob': ['job.submit'],
  'Mutation.reserveSlot': 'job.submit',
  'Mutation.releaseSlot': ['job.submit'],
  'Mutation.cancelJob': ['job.cancel.all'],
  'Mutation.cancelJobs': ['job.cancel.all'],
  'Mutation.deleteJob': ['job.delete.all'],
  'Mutation.approveJob': ['job.approve'],
  'Mutation.rejectJob': ['job.approve'],
  'Mutation.approveJobs': ['job.approve'],
  'Mutation.rejectJobs': ['job.approve'],
  'Mutation.setJobPriority': ['job.priority'],
  'Mutation.processQueue': 'queue.process',
  'Mutation.cleanupJobs': 'queue.cleanup',
  'Mutation.addNode': 'node.write',
  'Mutation.updateNode': 'node.write',
  'Mutation.removeNode': 'node.write',
  'Mutation.updateLimits': 'limits.write',
  'Mutation.setScopeLimit': 'limits.write',
  'Mutation.createQuota': 'quota.write',
  'Mutation.updateQuota': 'quota.write',
  'Mutation.deleteQuota': 'quota.write',
  'Mutation.createCapacityReservation': 'reservation.write',
  'Mutation.deleteCapacityReservation': 'reservation.write',
  'Mutation.createApprovalRule': 'rule.write',
  'Mutation.updateApprovalRule': 'rule.write',
  'Mutation.deleteApprovalRule': 'rule.write',
  'Mutation.createUser': 'user.write',
  'Mutation.updateUser': 'user.write',
  'Mutation.deleteUser': 'user.write',
  'Mutation.createTeam': 'user.write',
  'Mutation.updateTeam': 'user.write',
  'Mutation.deleteTeam': 'user.write',
  'Mutation.createToken': 'token.any',
  'Mutation.revokeToken': ['token.any'],
  'Mutation.reportProgress': 'RUN',
  'Mutation.publishArtifact': 'RUN',
  'Mutation.saveClosure': 'RUN',

  'Subscription.jobStatus': 'KNOWN',
  'Subscription.jobUpdates': 'KNOWN',
  'Subscription.tail': 'KNOWN',
  'Subscription.queueStatus': 'KNOWN',
}

/** Domain §10: the scope that a token needs for each permission to count. */
const scopeOf = (permission: Permission): TokenScope => {
  if (/^(job\.view|audit\.read)/.test(permission)) return 'READ'
  if (/^job\.(submit|cancel\.own|delete\.own)$/.test(permission)) return 'SUBMIT'
  if (/^(job\.(approve|priority|cancel\.all)|queue\.)/.test(permission)) return 'OPERATE'
  return 'ADMIN'
}

const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}).map((field) => ({ name: `${type?.name}.${field.name}`, field })),
)

// ── documents, made up from types ──

const leaves: Readonly<Record<string, string>> = {
  Int: '1',
  UInt53: '1',
  Float: '1.5',
  Boolean: 'true',
  DateTime: '"2030-01-01T00:00:00Z"',
  JSONObject: '{}',
}

function literal(type: GraphQLInputType): string {
  const plain = getNullableType(type)
  if (isListType(plain)) return `[${literal(plain.ofType)}]`
  if (isEnumType(plain)) return plain.getValues()[0]?.name ?? ''
  if (!isInputObjectType(plain)) return leaves[plain.name] ?? '"job_00000000000000000000000000"'
  const all = Object.values(plain.getFields())
  const given = plain.isOneOf ? all.slice(0, 1) : all.filter((field) => isNonNullType(field.type))
  return `{ ${given.map((field) => `${field.name}: ${literal(field.type)}`).join(', ')} }`
}

function selection(type: GraphQLNamedType): string {
  if (isUnionType(type)) {
    const members = new Set(type.getTypes().map(({ name }) => name))
    const problem = [...members].some((name) => name.endsWith('Problem')) ? '... on Problem { code message }' : ''
    const forbidden = members.has('ForbiddenProblem') ? '... on ForbiddenProblem { requiredPermission }' : ''
    return `{ __typename ${problem} ${forbidden} }`
  }
  if (!isObjectType(type)) return 'getFields' in type ? '{ __typename }' : ''
  const results = type.getFields()['results']
  return results ? `{ results ${selection(getNamedType(results.type))} }` : '{ __typename }'
}

/** createToken is asked for somebody else's, which is what needs more than oneself. */
const extra: Readonly<Record<string, string>> = {
  createToken: '(input: { name: "t", userId: "user_00000000000000000000000000" })',
}

function documentOf(kind: string, field: GraphQLField<unknown, unknown>): string {
  const args = field.args.filter((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined)
  const given = args.map((arg) => `${arg.name}: ${literal(arg.type)}`).join(', ')
  const call = extra[field.name] ?? (given ? `(${given})` : '')
  return `${kind.toLowerCase()} { ${field.name}${call} ${selection(getNamedType(field.type))} }`
}

// ── who calls ──

const secret = 'the-bootstrap-secret-of-this-test'
let server: TestServer
const callers: Caller[] = []

interface Caller {
  name: string
  granted: ReadonlySet<Permission>
  scopes: readonly TokenScope[]
  person: Person
}

beforeAll(async () => {
  server = await startServer({ logIn: { oidc: null } })
  await applyBootstrapToken(server.domain, secret)
  const admin = personWith(server.url, secret)
  const kinds = [
    ...userLevels.map((level) => ({ level, scopes: tokenScopes })),
    ...tokenScopes.map((scope) => ({ level: 'ADMIN' as const, scopes: [scope] })),
  ]
  for (const { level, scopes } of kinds) {
    const name = `${level}-${scopes.join('-')}`
    const { user } = await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })
    const made = await mutate(admin, 'createToken', { input: { name, userId: user.id, scopes }, wanted: 'secret' })
    callers.push({ name, granted: permissionsOf(level), scopes, person: personWith(server.url, made.secret) })
  }
})
afterAll(() => server[Symbol.asyncDispose]())

/** `FORBIDDEN x`, UNAUTHENTICATED, NOT_FOUND, or `let in` for whatever else came of it. */
async function verdict(person: Person, kind: string, field: GraphQLField<unknown, unknown>): Promise<string> {
  const { data, errors } = await person.ask(documentOf(kind, field))
  const [error] = errors ?? []
  if (error?.extensions.code === 'FORBIDDEN')
    return `FORBIDDEN ${error.message.replace('the scope ', 'scope:').split(' ').at(-1)}`
  if (error?.extensions.code === 'GRAPHQL_VALIDATION_FAILED') throw new Error(error.message)
  if (error) return error.extensions.code === 'UNAUTHENTICATED' ? 'UNAUTHENTICATED' : 'let in'
  const answer: Json = data?.[field.name]
  const outcome: Json = answer?.results?.[0] ?? answer
  if (outcome?.code === 'FORBIDDEN') return `FORBIDDEN ${outcome.requiredPermission}`
  return outcome?.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'let in'
}

function rightAnswers(who: Who, { granted, scopes }: Caller): string[] {
  if (who === 'LOG_IN_PAGE' || who === 'KNOWN') return ['let in', 'NOT_FOUND']
  if (who === 'RUN') return ['FORBIDDEN run']
  const permission = typeof who === 'string' ? who : who[0]
  const scope = scopeOf(permission)
  const mayHide = typeof who === 'string' ? [] : ['NOT_FOUND']
  if (!granted.has(permission)) return [`FORBIDDEN ${permission}`, ...mayHide]
  if (scope !== 'READ' && !scopes.includes(scope)) return [`FORBIDDEN scope:${scope}`, ...mayHide]
  return ['let in', 'NOT_FOUND']
}

describe('who may call what', () => {
  it('is said of every field', () => {
    const names = roots.map(({ name }) => name)
    expect(names.filter((name) => !(name in access))).toEqual([])
  })

  it.each(roots)('$name asks strangers to log in', async ({ name, field }) => {
    const [kind = ''] = name.split('.')
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
      body: JSON.stringify({ query: documentOf(kind, field) }),
    })
    const text = await response.text()
    if (access[name] === 'LOG_IN_PAGE') expect(text).not.toContain('UNAUTHENTICATED')
    else expect(text).toContain('UNAUTHENTICATED')
  })

  const asked = roots.filter(({ name }) => !name.startsWith('Subscription.'))

  it.each(asked)('$name lets in whom it should', async ({ name, field }) => {
    const [kind = ''] = name.split('.')
    const told = await Promise.all(callers.map(({ person }) => verdict(person, kind, field)))
    for (const [index, caller] of callers.entries())
      expect(rightAnswers(access[name] ?? 'KNOWN', caller).map((each) => `${caller.name}: ${each}`)).toContain(
        `${caller.name}: ${told[index]}`,
      )
  })

  it('is the same over every way in: a header of another form lets nobody in', async () => {
    const headers = { 'content-type': 'application/json', ...bearer('berth_made_up') }
    const body = JSON.stringify({ query: '{ serverInfo { name } }' })
    expect((await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })).status).toBe(401)
  })
})
