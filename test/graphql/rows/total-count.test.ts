import { beforeAll, describe, expect, it } from 'vitest'
import { chainOnce } from '../../../src/domain/audit/audit-chain.ts'
import { openApi } from '../../support/api.ts'
import { data, type Json } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'

let jobId: string

const server = await openTestServer({ singleUser: false })
const api = openApi(server.url)
beforeAll(async () => {
  const ann = await server.user('ann', 'RESEARCHER')
  await server.user('bob', 'RESEARCHER')
  const [first = ''] = [await server.submit({}, ann), await server.submit()]
  jobId = await server.submit({ dependsOn: [{ jobId: first }] }, ann)
  for (const more of [{}, { action: 'WARN' }])
    await mutate('createQuota', 'CreateQuotaInput', {
      type: 'JOBS_PER_DAY',
      action: 'BLOCK',
      limit: 1_000,
      ...more,
    })
  await mutate('createApprovalRule', 'CreateApprovalRuleInput', { name: 'dear', condition: { costAbove: 5 } })
  await mutate('submitJob', 'SubmitJobInput', { spec: { command: ['true'] }, requiresApproval: true })
  await mutate('reserveSlot', 'ReserveSlotInput', {})
  for (const name of ['blue', 'red']) await mutate('createTeam', 'CreateTeamInput', { name })
  for (const name of ['one', 'two']) await mutate('createToken', 'CreateTokenInput', { name })
  await mutate('createCapacityReservation', 'CreateCapacityReservationInput', {
    name: 'night',
    pool: 'sim',
    project: 'p',
    nodeIds: [(await data(server.url, '{ pool(name: "sim") { nodes { nodes { id } } } }'))['pool'].nodes.nodes[0].id],
    startsAt: '2100-01-01T00:00:00Z',
    endsAt: '2100-01-02T00:00:00Z',
  })
  await chainOnce(server.domain)
})

async function mutate(name: string, type: string, input: object) {
  const answer = await api.ask<Record<string, { __typename: string }>>(
    `mutation ($input: ${type}!) { ${name}(input: $input) { __typename ... on Problem { message } } }`,
    { input },
  )
  if (!answer[name]?.__typename.endsWith('Success')) throw new Error(JSON.stringify(answer))
}

/** Query text before the arguments and after the selection of each list. */
const lists: Readonly<Record<string, [head: string, end: string, arguments?: string]>> = {
  jobs: ['{ jobs', '}'],
  'entries of a workload': ['{ pool { workload { entries', '} } }'],
  users: ['{ users', '}'],
  teams: ['{ teams', '}'],
  'members of a team': ['{ teams { nodes { members', '} } }'],
  tokens: ['{ tokens', '}'],
  quotas: ['{ quotas', '}'],
  'approval rules': ['{ approvalRules', '}'],
  approvals: ['{ approvals', '}'],
  'capacity reservations': ['{ capacityReservations', '}'],
  'slot reservations': ['{ slotReservations', '}'],
  'audit log': ['{ auditLog', '}'],
  pools: ['{ pools', '}'],
  GPUs: ['{ system { gpus', '} }'],
  'nodes of a pool': ['{ pool(name: "sim") { nodes', '} }'],
  'runs on a node': ['{ pool(name: "sim") { nodes(first: 1) { nodes { runs', '} } } }'],
  'runs of a job': ['query ($id: ID!) { job(id: $id) { runs', '} }'],
  'events of a job': ['query ($id: ID!) { job(id: $id) { events', '} }'],
  'artifacts of a job': ['query ($id: ID!) { job(id: $id) { artifacts', '} }'],
}

/** Finds the connections in a response. */
const connectionsIn = (value: Json): Json[] => {
  if (typeof value !== 'object' || value === null) return []
  return 'totalCount' in value ? [value] : Object.values(value).flatMap(connectionsIn)
}

describe('totalCount', () => {
  it.each(Object.keys(lists))('is the length of the whole list on any page: %s', async (name) => {
    const [head, end, more = ''] = lists[name] ?? ['', '']
    const ask = async (page: string, wanted: string) => {
      const query = `${head}(${page} ${more}) { ${wanted} } ${end}`
      return connectionsIn(await data(server.url, query, query.startsWith('{') ? {} : { id: jobId }))
    }
    const whole = await ask('first: 100', 'totalCount isTotalExact nodes { __typename } pageInfo { hasNextPage }')
    expect(whole.length).toBeGreaterThan(0)
    for (const { totalCount, isTotalExact, nodes, pageInfo } of whole)
      expect([totalCount, isTotalExact, pageInfo.hasNextPage]).toEqual([nodes.length, true, false])
    const short = await ask('first: 1', 'totalCount')
    expect(short.map(({ totalCount }) => totalCount)).toEqual(whole.map(({ totalCount }) => totalCount))
  })

  it('counts only rows that match the filter and that the viewer may see', async () => {
    const counted = await data(
      server.url,
      '{ pending: approvals(filter: { statuses: [PENDING] }) { totalCount } audit: auditLog(filter: { operations: ["team.create"] }) { totalCount } }',
    )
    expect(counted).toEqual({ pending: { totalCount: 1 }, audit: { totalCount: 2 } })
  })

  it('is computed only if selected, by one SQL statement', async () => {
    const statements = server.countStatements()
    await data(server.url, '{ teams { nodes { id } } }')
    const isCount = (text: string) => text.includes('count(*)') && text.includes('team')
    expect(statements.filter(isCount)).toEqual([])
    await data(server.url, '{ teams { nodes { id } totalCount isTotalExact } }')
    expect(statements.filter(isCount)).toHaveLength(1)
  })

  it('is at most 10,000, and no more rows are read', async () => {
    const { sql } = server.domain.db
    const query = '{ teams(first: 1) { totalCount isTotalExact } }'
    await sql.query(
      `INSERT INTO team (id, name, account) SELECT 'team_' || n, 'team' || n, 'team' || n FROM generate_series(1, 10050) n`,
    )
    expect(await data(server.url, query)).toEqual({ teams: { totalCount: 10_000, isTotalExact: false } })
    await sql.query(`DELETE FROM team WHERE name LIKE 'team%'`)
    expect(await data(server.url, query)).toEqual({ teams: { totalCount: 2, isTotalExact: true } })
  })
})
