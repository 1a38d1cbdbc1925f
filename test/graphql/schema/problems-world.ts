import type { RunIdentity } from '../../../src/domain/access.ts'
import { transition } from '../../../src/domain/jobs/transition.ts'
import { type Json, transports } from '../../support/client.ts'
import type { TestServer } from '../../support/server.ts'

/** Ids of the objects that problems.test.ts uses. */
export interface World {
  queued: string
  final: string
  /** Id of a final job of rita. */
  over: string
  blocked: string
  own: string
  quota: string
  rule: string
  team: string
  savedView: string
  user: string
  self: string
  node: string
  run: RunIdentity
}

export async function createWorld(server: TestServer): Promise<World> {
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
  const [over, running] = [await server.submit({}, rita), await server.submit({}, ada)]
  for (const id of [final, over])
    await asked('mutation ($id: ID!) { cancelJob(input: { jobId: $id }) { __typename } }', { id })
  await asked('mutation { submitJob(input: { spec: { command: ["first"] }, idempotencyKey: "taken" }) { __typename } }')
  const [blocked, own] = [await blockedBy('rita'), await blockedBy('ada')]
  const quota = await asked(
    'mutation { createQuota(input: { type: CONCURRENT_JOBS, action: BLOCK, scope: { user: { name: "rita" } }, limit: 1 }) { ... on CreateQuotaSuccess { quota { id } } } }',
  )
  const rule = await asked(
    'mutation { createApprovalRule(input: { name: "r", condition: { costAbove: 9 } }) { ... on CreateApprovalRuleSuccess { rule { id } } } }',
  )
  const team = await asked('mutation { createTeam(input: { name: "t" }) { ... on CreateTeamSuccess { team { id } } } }')
  const view = await asked(
    'mutation { saveView(input: { name: "v", page: "/jobs", search: "" }) { ... on SaveViewSuccess { savedView { id } } } }',
  )
  await server.domain.db.sql.query(
    `INSERT INTO webhook_endpoint (name, target, position, disabled_at)
     VALUES ('ci', 'https://ci.example.org', 0, NULL), ('ended', 'https://ci.example.org', 0, berth_now())`,
  )
  const pools = await asked('{ pools { nodes { nodes { nodes { id } } } } }')
  return {
    queued,
    final,
    over,
    blocked,
    own,
    quota: quota.quota.id,
    rule: rule.rule.id,
    team: team.team.id,
    savedView: view.savedView.id,
    user: viewer.userId,
    self: ada.userId,
    node: pools.nodes[0].nodes.nodes[0].id,
    run: await startRun(server, running),
  }
}

async function startRun({ domain, time }: TestServer, jobId: string): Promise<RunIdentity> {
  const start = { jobId, run: 1, from: 'QUEUED', to: 'STARTING', reason: null } as const
  const [started] = await transition(domain.db.sql, [start], time.nowMs())
  if (!started) throw new Error('The job did not start')
  return { runId: started.runId, jobId, number: 1 }
}
