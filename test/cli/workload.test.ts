import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { until } from '../support/until.ts'
import { useBerth } from './server-and-cli.ts'

/** The workload of a pool on the command line of a server that really runs jobs, one at a time. */
const setup = useBerth()
const { berth } = setup
const jobs: string[] = []

beforeAll(async () => {
  await berth('limits', 'set', '--max-concurrent', '1')
  for (const name of ['running', 'next', 'later'])
    jobs.push((await berth('submit', '--name', name, '--max-run-time', '1h', '--', 'sleep', '600')).stdout.trim())
  await until(async () => (await berth('workload', '-o', 'json')).stdout.includes('GLOBAL_LIMIT'), {
    what: 'the leader told why the others wait',
  })
})

afterAll(() => berth('cancel', ...jobs))

it('berth workload lists running jobs, then waiting jobs with position, priority and reason', async () => {
  const { stdout, stderr, code } = await berth('workload')
  expect([code, stderr]).toEqual([0, ''])
  const [numbers, , head, ...rows] = stdout.trimEnd().split('\n')
  expect(numbers).toMatch(/^local {2}1 of 1 running, 2 waiting/)
  expect(head).toMatch(/^POS +JOB +NAME +USER +STATE +PRIORITY +START +REASON$/)
  expect(rows).toHaveLength(3)
  expect(rows[0]).toMatch(new RegExp(`^- +${jobs[0]} +running +local +(STARTING|RUNNING) +30 +`))
  expect(rows[1]).toMatch(
    new RegExp(`^1 +${jobs[1]} +next +local +QUEUED +30 +(about|from) .* GLOBAL_LIMIT: Limit reached: 1 of 1 `),
  )
  expect(rows[2]).toMatch(new RegExp(`^2 +${jobs[2]} +later +`))
  expect(stdout).not.toContain('\u001b')
})

it('berth workload accepts states and a limit, and has the names of the schema in JSON and YAML', async () => {
  const some = JSON.parse((await berth('workload', '--state', 'queued', '--limit', '1', '-o', 'json')).stdout)
  expect(some).toMatchObject({
    pool: { name: 'local' },
    depth: 2,
    running: 1,
    entries: { nodes: [{ id: jobs[1], position: 1 }] },
  })
  expect(some.entries.nodes[0].scheduling.estimatedStart.earliest).toMatch(/^\d{4}-/)
  expect(parse((await berth('workload', '-o', 'yaml')).stdout)).toMatchObject({ depth: 2 })
  expect(await berth('workload', '--limit', '0')).toMatchObject({ code: 2 })
  expect(await berth('workload', '--pool', 'moon')).toMatchObject({ code: 5 })
})

it('berth top is updated live, and prints one view after the other in a pipe', async () => {
  const top = setup.cli.start(['top', '-o', 'json'])
  await top.find(/"depth": 2/)
  const more = (await berth('submit', '--', 'true')).stdout.trim()
  await top.find(/"depth": 3/)
  await berth('cancel', more)
  top.child.kill('SIGINT')
  expect((await top.ended).stdout).not.toContain('\u001b')
})

it('berth info shows why and how long a job waits, and berth gpus which jobs use the GPUs', async () => {
  const { stdout } = await berth('info', jobs[2] ?? '')
  expect(stdout).toMatch(/^waits for +Limit reached: 1 of 1 running jobs for pool:local$/m)
  expect(stdout).toMatch(/^position +2 in local$/m)
  expect(stdout).toMatch(/^may start +(about|from) \d{4}-/m)
  expect((await berth('gpus')).stdout).toMatch(/^NODE +GPU +MODEL +GIB +CUDA +HELD BY\n/)
  expect(JSON.parse((await berth('gpus', '-o', 'json')).stdout)).toEqual([])
})
