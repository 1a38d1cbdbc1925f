import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { useBerth } from './server-and-cli.ts'

/** Rules of the configuration, decisions and the audit log, from the command line against a server of its own. */
const config = `
audit: { headFile: heads }
pools: [{ name: local, rates: { cpuHour: 0, gpuHour: 0, currency: EUR } }]
approvalRules:
  - { name: expensive, condition: { costAbove: 50 } }
`

const setup = useBerth({ config })
const { berth } = setup

async function json(...args: string[]) {
  const { stdout, stderr } = await berth(...args, '-o', 'json')
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

async function submitExpensive(): Promise<string> {
  await writeFile(join(setup.cli.home, 'job.yaml'), 'command: ["true"]\nestimatedCost: 60\n')
  return (await berth('submit', '-f', 'job.yaml')).stdout.trim()
}

test('an approval rule blocks jobs, users approve and reject them, and the audit log has each step', async () => {
  expect(await json('rules')).toMatchObject([{ name: 'expensive', condition: { costAbove: 50 } }])
  expect((await berth('rules')).stdout).toContain('costAbove EUR 50')
  const [approved, rejected] = [await submitExpensive(), await submitExpensive()]
  const waiting = await json('approve')
  expect(waiting.map(({ job }: { job: { id: string } }) => job.id)).toEqual([rejected, approved])
  expect((await berth('approve')).stdout).toContain('Costs EUR 60, more than EUR 50')
  const why =
    /approval of a user of level LEAD or above until \d{4}-[\d:TZ-]+: Costs EUR 60, more than EUR 50 \(rule expensive\)/
  expect((await berth('submit', '-f', 'job.yaml', '--name', 'told')).stderr).toMatch(
    new RegExp(`job_\\w+ is BLOCKED: .*${why.source}`),
  )
  expect((await berth('info', approved)).stdout).toMatch(new RegExp(`waits for +.*${why.source}`))
  expect((await berth('workload')).stdout).toMatch(new RegExp(`BLOCKED +30 +- +APPROVAL_PENDING: .*${why.source}`))
  expect(await json('approve', approved, '--comment', 'fine')).toMatchObject([{ id: approved }])
  expect(await berth('approve', approved, '--at', '2')).toMatchObject({ code: 3 })
  expect(await json('reject', rejected, '--reason', 'too big')).toMatchObject([
    { state: 'FAILED', stateReason: 'APPROVAL_REJECTED' },
  ])
  expect(await berth('reject', rejected)).toMatchObject({ code: 2 })
  expect((await berth('wait', approved)).code).toBe(0)

  await berth('user', 'create', 'ann', '--allow', 'job.approve', '--deny', 'job.delete.own', '--unix-user', 'nobody')
  expect((await berth('user', 'ls')).stdout).toMatch(
    /^ann +RESEARCHER +- +- +job\.approve +job\.delete\.own +nobody +active/m,
  )
  const shown = (await berth('user', 'info', 'ann')).stdout
  expect(shown).toMatch(
    /permissions +job\.view\.own, view\.write, job\.submit, job\.cancel\.own, job\.exec\.own, token\.own, secret\.own, job\.approve\n/,
  )
  expect(await json('user', 'info')).toMatchObject({
    name: 'local',
    permissions: expect.arrayContaining(['USER_WRITE']),
  })
  expect(await berth('user', 'info', 'bob')).toMatchObject({ code: 5 })
  // A server with another user asks for a log-in from its next start on.
  expect((await berth('user', 'disable', 'ann')).code).toBe(0)

  expect(await json('rules', 'create', 'trains', '--job-name', '^train-.*$', '--requires', 'admin')).toMatchObject([
    { name: 'trains', requiredLevel: 'ADMIN' },
  ])
  expect(await berth('rules', 'create', 'bad', '--job-name', '^(?=x)$')).toMatchObject({ code: 2 })
  const [, rule] = await json('rules')
  expect(await json('rules', 'update', rule.id, '--disable')).toMatchObject([{ name: 'trains', enabled: false }])
  expect(await berth('rules', 'rm', rule.id)).toMatchObject({ code: 0 })

  const entry = await until(async () => (await json('audit', 'ls', '--operation', 'rule.delete'))[0], {
    what: 'the newest change has its place in the audit log',
  })
  expect(entry).toMatchObject({ actorName: 'local', objectId: rule.id })
  expect(await json('audit', 'verify')).toMatchObject({ ok: true, fromSeq: 1 })

  await setup.server.end()
  const heads = (await readFile(join(setup.cli.home, 'heads'), 'utf8')).trim().split('\n')
  expect(heads.at(-1)).toMatch(new RegExp(`^${entry.seq} [0-9a-f]{64} `))
  await setup.start()
  expect(await json('rules')).toMatchObject([{ name: 'expensive' }])
  await setup.database().query('DELETE FROM audit_entry WHERE seq = $1', [entry.seq])
  await setup
    .database()
    .query('UPDATE audit_head SET seq = seq - 1, hash = (SELECT hash FROM audit_entry WHERE seq = audit_head.seq - 1)')
  const verdict = await berth('audit', 'verify')
  expect(verdict.code).toBe(1)
  expect(verdict.stdout).toContain(`The entry ${entry.seq} is missing`)
})

test('limits of quotas on cost are shown with their currency, other limits without', async () => {
  await berth('quota', 'create', '--type', 'COST_PER_DAY', '--limit', '0.125')
  await berth('quota', 'create', '--type', 'JOBS_PER_DAY', '--limit', '1000')
  const { stdout } = await berth('quota', 'ls')
  expect(stdout).toMatch(/COST_PER_DAY .* EUR 0\.125\n/)
  expect(stdout).toMatch(/JOBS_PER_DAY .* 1000\n/)
  expect((await berth('quota')).stdout).toMatch(/COST_PER_DAY .* EUR \d+ +EUR 0\.125\n/)
})
