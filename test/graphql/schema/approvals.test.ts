import { describe, expect, it } from 'vitest'
import { createChainer } from '../../../src/domain/audit/audit-chain.ts'
import { expireApprovals } from '../../../src/domain/control/approvals.ts'
import { rejectJob } from '../../../src/domain/control/approve.ts'
import { ask, data, streamSse } from '../../support/client.ts'
import { openTestServer } from '../../support/server.ts'

/** Rules, requests, decisions and audit entries over the API in single-user mode. */
const server = await openTestServer()

const rule = `id name priority enabled exemptLevels requiredLevel expiresAfterSeconds
  condition { costAbove hardware executor levelNotIn jobsPerDayAbove firstJob name }`
const problem = '... on Problem { code message ... on InvalidInputProblem { violations { path } } }'

const createRule = async (input: object) =>
  (
    await data(
      server.url,
      `mutation ($input: CreateApprovalRuleInput!) { createApprovalRule(input: $input) {
        ... on CreateApprovalRuleSuccess { rule { ${rule} } } ${problem} } }`,
      { input },
    )
  )['createApprovalRule']

async function submit(spec: object) {
  const query = `mutation ($input: SubmitJobInput!) { submitJob(input: $input) {
    ... on SubmitJobSuccess { job { id state version allowedActions approval { id status reason rule { id name } requiredLevel
      requestedBy { name } decidedBy { name } job { id } } } } ... on Problem { code message } } }`
  const { submitJob } = await data(server.url, query, { input: { spec: { command: ['true'], ...spec } } })
  return submitJob.job
}

describe('approval rules', () => {
  it('are created, updated, listed in order and deleted', async () => {
    const made = await createRule({ name: 'expensive', condition: { costAbove: 50 }, exemptLevels: ['ADMIN'] })
    expect(made.rule).toMatchObject({
      name: 'expensive',
      priority: 0,
      enabled: true,
      exemptLevels: ['ADMIN'],
      requiredLevel: 'LEAD',
      expiresAfterSeconds: 86_400,
      condition: { costAbove: 50, name: null },
    })
    await createRule({ name: 'first', condition: { name: '^train-.*$' }, priority: 5, enabled: false })
    const { updateApprovalRule } = await data(
      server.url,
      `mutation ($input: UpdateApprovalRuleInput!) { updateApprovalRule(input: $input) {
        ... on UpdateApprovalRuleSuccess { rule { ${rule} } } ${problem} } }`,
      { input: { approvalRuleId: made.rule.id, exemptLevels: [] } },
    )
    expect(updateApprovalRule.rule).toEqual({ ...made.rule, exemptLevels: [] })
    const { approvalRules } = await data(server.url, '{ approvalRules(first: 10) { nodes { name } } }')
    expect(approvalRules.nodes.map(({ name }: { name: string }) => name)).toEqual(['first', 'expensive'])
    const spare = await createRule({ name: 'spare', condition: { firstJob: true } })
    const remove = `mutation ($id: ID!) { deleteApprovalRule(input: { approvalRuleId: $id }) {
      ... on DeleteApprovalRuleSuccess { deletedId } ${problem} } }`
    const { id } = spare.rule
    expect(await data(server.url, remove, { id })).toEqual({ deleteApprovalRule: { deletedId: id } })
    expect(await data(server.url, remove, { id })).toMatchObject({ deleteApprovalRule: { code: 'NOT_FOUND' } })
    expect(await data(server.url, `query ($id: ID!) { node(id: $id) { id } }`, { id: made.rule.id })).toEqual({
      node: { id: made.rule.id },
    })
  })

  it.each([
    [{ name: 'expensive', condition: { costAbove: 1 } }, ['name']],
    [{ name: 'x', condition: { name: '^(?=a)$' } }, ['condition', 'name']],
    [{ name: 'x', condition: { costAbove: -1 } }, ['condition', 'costAbove']],
    [{ name: '', condition: { firstJob: true } }, ['name']],
    [{ name: 'x', condition: { firstJob: true }, expiresAfterSeconds: 0 }, ['expiresAfterSeconds']],
  ])('are refused: %j', async (input, path) => {
    expect(await createRule(input)).toMatchObject({ code: 'INVALID_INPUT', violations: [{ path }] })
  })

  it('are refused during validation if they have two conditions', async () => {
    const query = 'mutation ($input: CreateApprovalRuleInput!) { createApprovalRule(input: $input) { __typename } }'
    const input = { name: 'x', condition: { costAbove: 1, firstJob: true } }
    const { errors } = await ask(server.url, query, { input })
    expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
  })
})

describe('approvals', () => {
  it('are requested for matching jobs, block them, are listed, and are given', async () => {
    const job = await submit({ estimatedCost: 60 })
    expect(job).toMatchObject({
      state: 'BLOCKED',
      version: 2,
      allowedActions: ['CANCEL', 'APPROVE', 'REJECT', 'SET_PRIORITY'],
      approval: {
        status: 'PENDING',
        rule: { name: 'expensive' },
        requiredLevel: 'LEAD',
        requestedBy: { name: 'local' },
      },
    })
    const cheap = await submit({ estimatedCost: 40 })
    expect(cheap).toMatchObject({ state: 'QUEUED', approval: null })
    const list =
      '{ approvals(first: 10, filter: { statuses: [PENDING], decidable: true }) { nodes { id job { id } } } }'
    expect(await data(server.url, list)).toEqual({
      approvals: { nodes: [{ id: job.approval.id, job: { id: job.id } }] },
    })
    const decide = `mutation ($decisions: [ApproveJobInput!]!) { approveJobs(input: { decisions: $decisions }) { ... on ApproveJobsSuccess { results { jobId result {
      ... on ApproveJobSuccess { job { state stateReason version } approval { status comment decidedBy { name } } }
      ... on Problem { code } } } } ${problem} } }`
    const decisions = [job.id, cheap.id, 'job_none'].map((jobId) => ({ jobId, expectedVersion: 2, comment: 'ok' }))
    const { approveJobs } = await data(server.url, decide, { decisions })
    expect(approveJobs.results).toEqual([
      {
        jobId: job.id,
        result: {
          job: { state: 'QUEUED', stateReason: 'APPROVED', version: 4 },
          approval: { status: 'APPROVED', comment: 'ok', decidedBy: { name: 'local' } },
        },
      },
      { jobId: cheap.id, result: { code: 'INVALID_STATE' } },
      { jobId: 'job_none', result: { code: 'NOT_FOUND' } },
    ])
    expect(await data(server.url, list)).toEqual({ approvals: { nodes: [] } })
    const filters = `{ statuses: [APPROVED, EXPIRED], rules: ["${job.approval.rule.id}"], decidable: false }`
    const decided = `{ approvals(filter: ${filters}) { nodes { status decidable } } viewer { pendingDecisions } }`
    expect(await data(server.url, decided)).toEqual({
      approvals: { nodes: [{ status: 'APPROVED', decidable: false }] },
      viewer: { pendingDecisions: 0 },
    })
    const many = Array.from({ length: 101 }, () => decisions[0])
    expect(await data(server.url, decide, { decisions: many })).toMatchObject({
      approveJobs: { code: 'INVALID_INPUT', violations: [{ path: ['decisions'] }] },
    })
  })

  it('can be refused with a reason', async () => {
    const { id } = await submit({ estimatedCost: 60 })
    const reject = `mutation ($reason: String!, $id: ID!, $version: UInt53!) {
      rejectJob(input: { jobId: $id, reason: $reason, expectedVersion: $version }) {
        ... on RejectJobSuccess { job { state stateReason stateInfo exitCode events(first: 9) { nodes { seq type psijState } } } }
        ${problem} } }`
    expect(await data(server.url, reject, { id, reason: ' ', version: 2 })).toMatchObject({
      rejectJob: { code: 'INVALID_INPUT', violations: [{ path: ['reason'] }] },
    })
    expect(await data(server.url, reject, { id, reason: 'no', version: 1 })).toMatchObject({
      rejectJob: { code: 'VERSION_CONFLICT' },
    })
    const { rejectJob } = await data(server.url, reject, { id, reason: 'too big', version: 2 })
    expect(rejectJob.job).toMatchObject({ state: 'FAILED', stateReason: 'APPROVAL_REJECTED', exitCode: null })
    expect(rejectJob.job.stateInfo).toContain('too big')
    expect(rejectJob.job.events.nodes).toEqual([
      { seq: 1, type: 'CREATED', psijState: 'NEW' },
      { seq: 2, type: 'APPROVAL_REQUESTED', psijState: null },
      { seq: 3, type: 'APPROVAL_DECIDED', psijState: null },
      { seq: 4, type: 'STATE_CHANGED', psijState: 'FAILED' },
    ])
  })

  it('emit events that jobStatus delivers without gaps until the final one', async () => {
    const { id } = await submit({ estimatedCost: 60 })
    const query = `subscription ($id: ID!) { jobStatus(jobId: $id) { ... on JobTransitions { transitions { seq type } isFinal } } }`
    const seen: { seq: number; type: string }[] = []
    let isFinal = false
    for await (const { data: message } of streamSse(server.url, query, { id })) {
      seen.push(...(message?.['jobStatus'].transitions ?? []))
      isFinal = message?.['jobStatus'].isFinal ?? isFinal
      if (seen.length === 2)
        await rejectJob(server.domain, server.admin, { jobId: id, reason: 'no', expectedVersion: 2 })
    }
    expect(seen.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '1 CREATED',
      '2 APPROVAL_REQUESTED',
      '3 APPROVAL_DECIDED',
      '4 STATE_CHANGED',
    ])
    expect(isFinal).toBe(true)
  })

  it('are shown by jobUpdates of BLOCKED jobs when requested, decided and expired', async () => {
    const query = `subscription ($after: Cursor) { jobUpdates(filter: { states: [BLOCKED] }, after: $after) {
      ... on JobTransitions { matches job { id approval { id status } } } } }`
    const { jobs } = await data(server.url, '{ jobs(first: 1) { asOf } }')
    const stream = streamSse(server.url, query, { after: jobs.asOf })
    const statusOf = async (id: string, matches: boolean) => {
      for (;;) {
        const message = (await stream.next()).value?.data?.['jobUpdates']
        if (message.job.id === id && message.matches === matches) return message.job.approval.status
      }
    }
    const { id, version } = await submit({ estimatedCost: 60 })
    expect(await statusOf(id, true)).toBe('PENDING')
    await rejectJob(server.domain, server.admin, { jobId: id, reason: 'no', expectedVersion: version })
    expect(await statusOf(id, false)).toBe('REJECTED')
    const late = await submit({ estimatedCost: 60 })
    await server.domain.db.sql.query(
      "UPDATE approval SET requested_at = berth_now() - interval '2 s', expires_at = berth_now() - interval '1 s' WHERE id = $1",
      [late.approval.id],
    )
    await expireApprovals(server.domain)
    expect(await statusOf(late.id, false)).toBe('EXPIRED')
    stream.cut()
  })

  it('are EXPIRED at once when they expire, even before the periodic sweep', async () => {
    const { id, approval } = await submit({ estimatedCost: 60 })
    const pending = '{ approvals(first: 10, filter: { statuses: [PENDING] }) { nodes { id } } }'
    expect(await data(server.url, pending)).toEqual({ approvals: { nodes: [{ id: approval.id }] } })
    await server.domain.db.sql.query(
      "UPDATE approval SET requested_at = berth_now() - interval '2 s', expires_at = berth_now() - interval '1 s' WHERE id = $1",
      [approval.id],
    )
    const query = `query ($id: ID!, $approval: ID!) { job(id: $id) { state allowedActions approval { status decidedAt } }
      node(id: $approval) { ... on Approval { status expiresAt } } }`
    const { job, node } = await data(server.url, query, { id, approval: approval.id })
    expect(node).toMatchObject({ status: 'EXPIRED' })
    expect(job).toEqual({
      state: 'BLOCKED',
      allowedActions: ['CANCEL', 'SET_PRIORITY'],
      approval: { status: 'EXPIRED', decidedAt: node.expiresAt },
    })
    expect(await data(server.url, pending)).toEqual({ approvals: { nodes: [] } })
    expect(await expireApprovals(server.domain)).toBe(1)
    expect(await data(server.url, query, { id, approval: approval.id })).toMatchObject({
      job: { state: 'FAILED', approval: { status: 'EXPIRED' } },
    })
  })

  it('show decider, rule and deadline in the reasons of the BLOCKED job', async () => {
    const { id, approval } = await submit({ estimatedCost: 60, resources: { cpu: 1_000 } })
    const query = `query ($id: ID!, $approval: ID!) { job(id: $id) { stateReason stateInfo position scheduling {
      reasons { code message } gates { code open message job { id } } fit { freeNow couldEverFit } jobsAhead hold { id }
      estimatedStart { earliest } } } node(id: $approval) { ... on Approval { expiresAt } } }`
    const { job, node } = await data(server.url, query, { id, approval: approval.id })
    const until = node.expiresAt.replace(/\.\d+Z$/, 'Z')
    const info = `Waiting for the approval of a user of level LEAD or above until ${until}: Costs 60, more than 50 (rule expensive)`
    expect(job).toEqual({
      stateReason: 'APPROVAL_PENDING',
      stateInfo: info,
      position: null,
      scheduling: {
        reasons: [{ code: 'APPROVAL_PENDING', message: info }],
        gates: [{ code: 'APPROVAL', open: false, message: info, job: null }],
        fit: { freeNow: false, couldEverFit: false },
        jobsAhead: 0,
        hold: null,
        estimatedStart: null,
      },
    })
  })

  it('can be required by the submitter of the job', async () => {
    const query = `mutation { submitJob(input: { spec: { command: ["true"] }, requiresApproval: true }) {
      ... on SubmitJobSuccess { job { state approval { rule { id } } } } } }`
    const { submitJob } = await data(server.url, query)
    expect(submitJob.job).toEqual({ state: 'BLOCKED', approval: { rule: null } })
  })
})

describe('the audit log', () => {
  it('returns pages of entries by filter, and verifies its hash chain', async () => {
    await createChainer(server.domain).runOnce()
    const entries = 'nodes { id seq at actor { name } actorName operation objectId detail hash } pageInfo { endCursor }'
    const { auditLog } = await data(server.url, `{ auditLog(first: 100) { ${entries} } }`)
    const seqs = auditLog.nodes.map(({ seq }: { seq: number }) => seq)
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => seqs.length - i))
    const operations = new Set(auditLog.nodes.map(({ operation }: { operation: string }) => operation))
    for (const operation of ['rule.create', 'rule.update', 'rule.delete', 'job.submit', 'job.approve', 'job.reject'])
      expect(operations).toContain(operation)
    const filtered = await data(
      server.url,
      `{ auditLog(first: 1, filter: { operations: ["rule.create"] }) { ${entries} } }`,
    )
    const [newest] = filtered['auditLog'].nodes
    expect(newest).toMatchObject({ operation: 'rule.create', actorName: 'local', detail: { name: 'spare' } })
    const next = await data(
      server.url,
      `query ($after: Cursor) { auditLog(first: 1, after: $after, filter: { operations: ["rule.create"] }) { ${entries} } }`,
      { after: filtered['auditLog'].pageInfo.endCursor },
    )
    expect(next['auditLog'].nodes[0].detail.name).toBe('first')
    const prefix = '{ auditLog(filter: { operations: ["rule.*"] }) { nodes { operation } } }'
    const rules = (await data(server.url, prefix))['auditLog'].nodes.map(
      ({ operation }: { operation: string }) => operation,
    )
    expect(new Set(rules)).toEqual(new Set(['rule.create', 'rule.update', 'rule.delete']))
    expect(await data(server.url, 'query ($id: ID!) { node(id: $id) { id } }', { id: newest.id })).toEqual({
      node: { id: newest.id },
    })
    const verify = '{ verifyAudit { ok fromSeq toSeq headSeq firstBadSeq message } }'
    const whole = { fromSeq: 1, toSeq: seqs.length, headSeq: seqs.length }
    expect(await data(server.url, verify)).toEqual({
      verifyAudit: { ok: true, ...whole, firstBadSeq: null, message: null },
    })
    await server.domain.db.sql.query("UPDATE audit_entry SET action = 'rule.read' WHERE seq = 2")
    expect(await data(server.url, verify)).toMatchObject({ verifyAudit: { ok: false, ...whole, firstBadSeq: 2 } })
  })
})
