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
import { beforeAll, describe, expect, it } from 'vitest'
import {
  listPermissions,
  type Permission,
  type TokenScope,
  tokenScopes,
  userLevels,
} from '../../../src/domain/access.ts'
import { applyBootstrapToken } from '../../../src/domain/people/tokens.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import type { Json } from '../../support/client.ts'
import { bearer, mutate, type Person, personWith } from '../../support/people.ts'
import { openTestServer } from '../../support/server.ts'

/**
 * Access table: every root field of the schema has a row, and a missing row fails the test. Callers are a client without
 * a token, a user of every level, and an ADMIN with one token per scope.
 *
 *   LOG_IN_PAGE  every caller; other tests check the visible fields
 *   KNOWN        every authenticated user; the result contains only visible objects
 *   RUN          only a job with the token of its run (inside.test.ts)
 *   permission   users with the permission and a token with its scope; others get FORBIDDEN with the permission or scope
 *   [permission] the same, but callers without the permission may get NOT_FOUND
 *
 * Arguments are generated from their types, so a mutation must check the permission before its arguments; if it must
 * load the object first, put the permission into brackets.
 */
type Who = 'LOG_IN_PAGE' | 'KNOWN' | 'RUN' | Permission | readonly [Permission]

const access: Record<string, Who> = {
  'Query.serverInfo': 'LOG_IN_PAGE',
  'Query.previewJob': 'job.submit',
  'Query.previewApprovalRule': 'rule.write',
  'Query.node': 'KNOWN',
  'Query.nodes': 'KNOWN',
  'Query.viewer': 'KNOWN',
  'Query.job': 'KNOWN',
  'Query.jobs': 'KNOWN',
  'Query.jobCounts': 'KNOWN',
  'Query.jobByNativeId': 'KNOWN',
  'Query.idempotencyKey': 'KNOWN',
  'Query.savedViews': 'KNOWN',
  'Query.approvals': 'KNOWN',
  'Query.system': 'KNOWN',
  'Query.pool': 'KNOWN',
  'Query.pools': 'KNOWN',
  'Query.submissionQueues': 'KNOWN',
  'Query.slotReservations': 'KNOWN',
  'Query.usage': 'KNOWN',
  'Query.quotas': 'KNOWN',
  'Query.approvalRules': 'KNOWN',
  'Query.capacityReservations': 'KNOWN',
  'Query.users': 'KNOWN',
  'Query.teams': 'KNOWN',
  'Query.tokens': 'KNOWN',
  'Query.secrets': 'KNOWN',
  'Query.auditLog': 'audit.read',
  'Query.verifyAudit': 'audit.read',
  'Query.selfCheck': 'job.view.all',
  'Query.webhooks': 'webhook.write',

  'Mutation.submitJob': 'job.submit',
  'Mutation.submitJobs': 'job.submit',
  'Mutation.retryJob': ['job.submit'],
  'Mutation.reserveSlot': 'job.submit',
  'Mutation.releaseSlot': ['job.submit'],
  'Mutation.cancelJob': ['job.cancel.all'],
  'Mutation.cancelJobs': ['job.cancel.all'],
  'Mutation.deleteJobs': ['job.delete.all'],
  'Mutation.retryJobs': ['job.submit'],
  'Mutation.setJobPriorities': ['job.priority'],
  'Mutation.deleteJob': ['job.delete.all'],
  'Mutation.approveJob': ['job.approve'],
  'Mutation.rejectJob': ['job.approve'],
  'Mutation.approveJobs': ['job.approve'],
  'Mutation.rejectJobs': ['job.approve'],
  'Mutation.setJobPriority': ['job.priority'],
  'Mutation.planPools': 'pool.plan',
  'Mutation.addNode': 'node.write',
  'Mutation.updateNode': 'node.write',
  'Mutation.deleteNode': 'node.write',
  'Mutation.updateLimits': 'limits.write',
  'Mutation.setScopeLimit': 'limits.write',
  'Mutation.createQuota': 'quota.write',
  'Mutation.updateQuota': 'quota.write',
  'Mutation.deleteQuota': 'quota.write',
  'Mutation.createCapacityReservation': 'reservation.write',
  'Mutation.deleteCapacityReservation': 'reservation.write',
  'Mutation.testWebhook': 'webhook.write',
  'Mutation.resendWebhookDeliveries': 'webhook.write',
  'Mutation.enableWebhook': 'webhook.write',
  'Mutation.createApprovalRule': 'rule.write',
  'Mutation.updateApprovalRule': 'rule.write',
  'Mutation.deleteApprovalRule': 'rule.write',
  'Mutation.createUser': 'user.write',
  'Mutation.updateUser': 'user.write',
  'Mutation.disableUser': 'user.write',
  'Mutation.saveView': 'view.write',
  'Mutation.deleteView': 'view.write',
  'Mutation.createTeam': 'user.write',
  'Mutation.updateTeam': 'user.write',
  'Mutation.deleteTeam': 'user.write',
  'Mutation.setSecret': 'secret.own',
  'Mutation.deleteSecret': 'secret.own',
  'Mutation.createToken': 'token.any',
  'Mutation.revokeToken': ['token.any'],
  'Mutation.createDownload': 'KNOWN',
  'Mutation.openSession': ['job.exec.all'],
  'Mutation.openForward': ['job.exec.all'],
  'Mutation.endSession': ['job.exec.own'],
  'Mutation.createSnapshot': 'job.submit',
  'Mutation.reportProgress': 'RUN',
  'Mutation.publishArtifact': 'RUN',
  'Mutation.saveClosure': 'RUN',

  'Subscription.jobStatus': 'KNOWN',
  'Subscription.jobUpdates': 'KNOWN',
  'Subscription.tail': 'KNOWN',
  'Subscription.workloadStatus': 'KNOWN',
  'Subscription.nodeUpdates': 'KNOWN',
}

const requiredScope = (permission: Permission): TokenScope => {
  if (/^(job\.view|audit\.read)/.test(permission)) return 'READ'
  if (/^job\.(submit|(cancel|delete|exec)\.own)$|^(view\.|secret\.own$)/.test(permission)) return 'SUBMIT'
  if (/^(job\.(approve|priority|cancel\.all)|pool\.plan|secret\.team)/.test(permission)) return 'OPERATE'
  return permission.startsWith('job.exec') ? 'EXEC' : 'ADMIN'
}

const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}).map((field) => ({ name: `${type?.name}.${field.name}`, field })),
)

// ── documents, generated from types ──

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
    const bulk = type.getTypes().flatMap((member) => {
      const results = member.getFields()['results']
      if (!results) return []
      const item = getNamedType(results.type)
      const result = isObjectType(item) ? item.getFields()['result'] : undefined
      const selected = result ? `{ result ${selection(getNamedType(result.type))} }` : selection(item)
      return `... on ${member.name} { results ${selected} }`
    })
    const problem = [...members].some((name) => name.endsWith('Problem')) ? '... on Problem { code message }' : ''
    const forbidden = members.has('ForbiddenProblem')
      ? '... on ForbiddenProblem { requiredPermission requiredScope requiredLevel }'
      : ''
    return `{ __typename ${problem} ${forbidden} ${bulk.join(' ')} }`
  }
  return 'getFields' in type ? '{ __typename }' : ''
}

/** createToken for another user, because one's own token needs no permission. */
const extra: Readonly<Record<string, string>> = {
  createToken: '(input: { name: "t", userId: "user_00000000000000000000000000" })',
}

function buildDocument(kind: string, field: GraphQLField<unknown, unknown>): string {
  const args = field.args.filter((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined)
  const given = args.map((arg) => `${arg.name}: ${literal(arg.type)}`).join(', ')
  const call = extra[field.name] ?? (given ? `(${given})` : '')
  return `${kind.toLowerCase()} { ${field.name}${call} ${selection(getNamedType(field.type))} }`
}

// ── callers ──

const secret = 'the-bootstrap-secret-of-this-test'
const callers: Caller[] = []

interface Caller {
  name: string
  granted: ReadonlySet<Permission>
  scopes: readonly TokenScope[]
  person: Person
}

const server = await openTestServer({ logIn: { oidc: null } })
beforeAll(async () => {
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
    callers.push({ name, granted: listPermissions(level), scopes, person: personWith(server.url, made.secret) })
  }
})

/** Returns `FORBIDDEN x`, UNAUTHENTICATED, NOT_FOUND, or `allowed` for every other result. */
async function callField(person: Person, kind: string, field: GraphQLField<unknown, unknown>): Promise<string> {
  const { data, errors } = await person.ask(buildDocument(kind, field))
  const [error] = errors ?? []
  if (error?.extensions.code === 'FORBIDDEN')
    return `FORBIDDEN ${error.message.replace('the scope ', 'scope:').split(' ').at(-1)}`
  if (error?.extensions.code === 'GRAPHQL_VALIDATION_FAILED') throw new Error(error.message)
  if (error) return error.extensions.code === 'UNAUTHENTICATED' ? 'UNAUTHENTICATED' : 'allowed'
  const answer: Json = data?.[field.name]
  const [first] = answer?.results ?? []
  const outcome: Json = first?.result ?? first ?? answer
  if (outcome?.code === 'FORBIDDEN') return `FORBIDDEN ${requirementOf(outcome)}`
  return outcome?.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'allowed'
}

function expectedOutcomes(who: Who, { granted, scopes }: Caller): string[] {
  if (who === 'LOG_IN_PAGE' || who === 'KNOWN') return ['allowed', 'NOT_FOUND']
  if (who === 'RUN') return ['FORBIDDEN run']
  const permission = typeof who === 'string' ? who : who[0]
  const scope = requiredScope(permission)
  const mayHide = typeof who === 'string' ? [] : ['NOT_FOUND']
  if (!granted.has(permission)) return [`FORBIDDEN ${permission}`, ...mayHide]
  if (scope !== 'READ' && !scopes.includes(scope)) return [`FORBIDDEN scope:${scope}`, ...mayHide]
  return ['allowed', 'NOT_FOUND']
}

describe('the access table', () => {
  it('has a row for every root field', () => {
    const names = roots.map(({ name }) => name)
    expect(names.filter((name) => !(name in access))).toEqual([])
  })

  it.each(roots)('requires that $name refuses callers without a token', async ({ name, field }) => {
    const [kind = ''] = name.split('.')
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
      body: JSON.stringify({ query: buildDocument(kind, field) }),
    })
    const text = await response.text()
    if (access[name] === 'LOG_IN_PAGE') expect(text).not.toContain('UNAUTHENTICATED')
    else expect(text).toContain('UNAUTHENTICATED')
  })

  const callable = roots.filter(({ name }) => !name.startsWith('Subscription.'))

  it.each(callable)('requires that $name accepts the listed callers and no others', async ({ name, field }) => {
    const [kind = ''] = name.split('.')
    const outcomes = await Promise.all(callers.map(({ person }) => callField(person, kind, field)))
    for (const [index, caller] of callers.entries())
      expect(expectedOutcomes(access[name] ?? 'KNOWN', caller).map((each) => `${caller.name}: ${each}`)).toContain(
        `${caller.name}: ${outcomes[index]}`,
      )
  })

  it('is not reached by a request with an invalid token', async () => {
    const headers = { 'content-type': 'application/json', ...bearer('berth_made_up') }
    const body = JSON.stringify({ query: '{ serverInfo { name } }' })
    expect((await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })).status).toBe(401)
  })
})

function requirementOf({ requiredPermission: permission, requiredScope: scope, requiredLevel: level }: Json): string {
  if (permission !== null) return permission.toLowerCase().replaceAll('_', '.')
  if (scope !== null) return `scope:${scope}`
  return level === null ? 'run' : `level:${level}`
}
