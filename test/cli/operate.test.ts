import { expect, it } from 'vitest'
import { useTestServer } from './server-and-cli.ts'

/** Commands for operators of a server. Its pool has no leader, so jobs stay QUEUED. */
const setup = useTestServer()
const { berth } = setup

it('berth priority sets and clears the priority of a job', async () => {
  const jobId = await setup.server.submit()
  expect(await berth('priority', jobId, '45')).toMatchObject({ code: 0, stdout: expect.stringContaining(jobId) })
  expect(await setup.server.domain.db.sql.query('SELECT priority_override AS is FROM job')).toEqual([{ is: 45 }])
  expect(await berth('priority', jobId, '--clear')).toMatchObject({ code: 0 })
  expect(await setup.server.domain.db.sql.query('SELECT priority_override AS is FROM job')).toEqual([{ is: null }])
  expect(await berth('priority', jobId, '51')).toMatchObject({ code: 2, stderr: expect.stringContaining('0 … 50') })
  expect(await berth('priority', jobId)).toMatchObject({ code: 2, stderr: expect.stringContaining('--clear') })
  expect(await berth('priority', 'job_nowhere', '1')).toMatchObject({ code: 5 })
})

it('berth node adds nodes, cordons them by name, and removes them', async () => {
  const gpus = ['--gpu', '{model: T4, memoryGib: 16, count: 2}', '--gpu', '{model: H100, memoryGib: 80}']
  const added = await berth('node', 'add', 'n2', '--cpu', '8.5', '--mem', '32', ...gpus)
  expect(added).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/n2 +READY +8.5 of 8.5 +32 of 32 +3 of 3/),
  })
  const cordoned = await berth('node', 'cordon', 'n1', 'n2', '--reason', 'fan is loud')
  expect(cordoned.stdout).toMatch(/n1 +CORDONED .* fan is loud \(local\)\n[\s\S]*n2 +CORDONED/)
  expect((await berth('node', 'uncordon', 'n1')).stdout).toMatch(/n1 +READY/)
  expect((await berth('node', 'drain', 'n2', '-o', 'json')).stdout).toMatch(/"state": "DRAINING"/)
  expect(await berth('node', 'rm', 'n2')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^node_\w+\n$/) })
  expect((await berth('node')).stdout).not.toContain(' n2 ')
  expect(await berth('node', 'rm', 'n2')).toMatchObject({ code: 5 })
  expect(await berth('node', 'ls', '--pool', 'moon')).toMatchObject({ code: 5 })
  expect(await berth('node', 'add', 'n3', '--cpu', '1', '--mem', '1', '--gpu', 'T4')).toMatchObject({ code: 2 })
  expect(await berth('node', 'add', 'n1', '--cpu', '1', '--mem', '1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('already has a node n1'),
  })
})

it('berth rm deletes jobs that ended before a given time', async () => {
  const jobId = await setup.server.submit()
  await berth('cancel', jobId)
  expect((await berth('rm', '--finished-until', '7d', '--yes')).stdout).toBe('')
  const now = new Date().toISOString()
  expect((await berth('rm', '--finished-until', now, '--yes')).stdout).toBe('1 job deleted\n')
})

it('berth doctor exits with 1 if it has findings; berth plan exits with 4 without a leader', async () => {
  await setup.server.domain.db.sql.query('DELETE FROM audit_entry WHERE seq IS NULL')
  expect(await berth('doctor')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /every pool has a leader +pool_sim +Pool sim has no leader: its queued jobs do not start\n\nPOOL +EXECUTOR .*\nsim +SIMULATED +- +no +Pool sim has no leader\n\nno server has evaluated the conditions yet; see the log of the servers\n$/,
    ),
    stderr: expect.stringContaining('pool sim needs a server with the role scheduler'),
  })
  expect(JSON.parse((await berth('doctor', '-o', 'json')).stdout)).toMatchObject({
    ok: false,
    findings: [{ rule: 'every pool has a leader', objectId: 'pool_sim' }],
  })
  await setup.server.domain.db.sql.query('UPDATE node SET free_cpu_millis = 1')
  expect(await berth('doctor')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('free resources are capacity minus'),
  })
  expect(JSON.parse((await berth('doctor', '-o', 'json')).stdout)).toMatchObject({ ok: false, findings: [{}, {}] })
  expect(await berth('plan')).toMatchObject({ code: 4 })
})
