import { beforeAll, describe, expect, it } from 'vitest'
import type { Cli } from '../../src/cli/frame/cli.ts'
import { findWorstExitCode } from '../../src/cli/frame/exit.ts'
import { resolveJob } from '../../src/cli/reading/job-name.ts'
import type { JobRowFragment } from '../../src/client/generated/graphql.ts'
import { out, writeLog } from '../support/log.ts'
import { useTestServer } from './server-and-cli.ts'

/** Ways to name jobs in commands: ids, @last, filters and sweeps. No job starts; jobs end because they are cancelled. */
const setup = useTestServer()
const { berth } = setup

beforeAll(async () => {
  const { server } = setup
  await server.submit({ name: 'a name that is much longer than any terminal is wide, even if it is wide' })
  await server.user('bob', 'RESEARCHER', ['job.view.all', 'job.cancel.all', 'job.delete.all', 'user.write'])
  await berth('node', 'cordon', 'n1', '--reason', 'a reason that takes more space than there is on most terminals')
  await berth('rules', 'create', 'expensive', '--cost-above', '50')
  await berth('quota', 'create', '--type', 'concurrent-jobs', '--limit', '2000')
  await berth('token', 'create', 'laptop')
  await berth('slot', 'reserve')
})

const submit = async (...args: string[]) => (await berth('submit', ...args)).stdout.trim()

async function info(job: string): Promise<unknown> {
  const { stdout, stderr } = await berth('info', job, '-o', 'json')
  return stderr === '' ? JSON.parse(stdout) : stderr
}

describe('berth submit', () => {
  it('prints the finished job with --wait -o json', async () => {
    const waiting = setup.cli.begin(['submit', '--name', 'ended', '--wait', '-o', 'json', '--', 'true'])
    const [id] = await waiting.find(/job_\w{26}/)
    await berth('cancel', id)
    const { code, stdout } = await waiting.ended
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 130, job: { id, name: 'ended', state: 'CANCELLED' } })
  })

  it('refuses an unknown field of --json before it submits the job', async () => {
    const refused = await berth('submit', '--name', 'wrong-field', '--json', 'id', '--', 'true')
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^berth: unknown field id; the fields are /),
    })
    expect((await berth('ls', '--name', 'wrong-field', '-o', 'ids')).stdout).toBe('')
    const accepted = await berth('submit', '--json', 'job.id,job.queue.name', '--', 'true')
    expect(JSON.parse(accepted.stdout)).toEqual({ job: { id: expect.any(String), queue: { name: 'default' } } })
  })
})

describe('@last', () => {
  it('means the newest job of a sweep', async () => {
    const [, newest] = (await submit('--sweep', 'n=1,2', '--', 'false')).split('\n')
    expect(await info('@last')).toMatchObject({ id: newest })
  })

  it('means the newest job after a retry of many jobs', async () => {
    await submit('--label', 'sweep=last', '--sweep', 'n=1,2', '--', 'false')
    await berth('cancel', '--label', 'sweep=last', '--yes')
    const { stdout } = await berth('retry', '--with-label', 'sweep=last', '--yes', '-o', 'ids')
    expect(await info('@last')).toMatchObject({ id: stdout.split('\n')[1] })
  })
})

describe('a job', () => {
  it('can be given by its name, which means the newest job of the user with this name', async () => {
    const ann = await setup.server.user('ann', 'RESEARCHER')
    await submit('--name', 'resnet', '--', 'true')
    const newest = await submit('--name', 'resnet', '--', 'true')
    await setup.server.submit({ name: 'resnet' }, ann)
    expect(await info('resnet')).toMatchObject({ id: newest })
    expect((await berth('cancel', 'resnet', '-o', 'ids')).stdout).toBe(`${newest}\n`)
    const retried = (await berth('retry', 'resnet', '--', 'echo', 'resnet')).stdout.trim()
    expect(await info(retried)).toMatchObject({ retryOf: { id: newest }, spec: { command: ['echo', 'resnet'] } })
  })

  it('can be given by the end of its id if no other id has the same end', async () => {
    const id = await submit('--', 'true')
    expect(await info(id.slice(-8))).toMatchObject({ id })
    expect(await info(id.slice(-8).toUpperCase())).toMatchObject({ id })
  })

  it('cannot be given by the end of its id if several ids have the same end', async () => {
    const nodes = ['job_01abc', 'job_02abc', 'job_03xyz'].map((id) => ({ id }))
    const request = async (_: unknown, { filter }: { filter?: { name?: string } }) => ({
      viewer: { user: { id: 'user_1' } },
      jobs: { nodes: filter?.name === undefined ? nodes : [], pageInfo: { hasNextPage: false, endCursor: null } },
    })
    const cli = { connection: () => ({ request }) } as unknown as Cli
    expect(await resolveJob(cli, 'xyz')).toBe('job_03xyz')
    await expect(resolveJob(cli, 'abc')).rejects.toMatchObject({
      message: 'the ids of 2 jobs end with abc',
      next: 'use one of job_01abc, job_02abc',
    })
  })
})

describe('berth retry', () => {
  it('with filters gives the new jobs the command after "--"', async () => {
    await berth('cancel', await submit('--name', 'by-filter', '--', 'false'))
    const { stdout } = await berth('retry', '--with-name', 'by-filter', '--yes', '-o', 'ids', '--', 'echo', 'again')
    expect(await info(stdout.trim())).toMatchObject({ spec: { command: ['echo', 'again'] } })
  })
})

it('berth why does not repeat the advice of the server for a job that ran out of memory', async () => {
  const id = await submit('--', 'true')
  await berth('cancel', id)
  await setup.server.domain.db.sql.query(
    `UPDATE job SET state_reason = 'OOM_KILLED', state_info = 'retry with --mem 8' WHERE id = $1`,
    [id],
  )
  const { stdout } = await berth('why', id)
  expect(stdout).toMatch(/^because +retry with --mem 8$/m)
  expect(stdout).toMatch(new RegExp(`^next +"berth logs --errors ${id}"$`, 'm'))
})

it('berth submit --dry-run counts one job as "1 job"', async () => {
  expect((await berth('submit', '--sweep', 'n=1', '--dry-run', '--', 'true')).stderr).toBe(
    'berth: 1 job would be submitted\n',
  )
})

describe('a sweep', () => {
  it('with --wait exits with the exit code of its worst job', async () => {
    const waiting = setup.cli.begin(['submit', '--label', 'sweep=waited', '--sweep', 'n=1..3', '--wait', '--', 'true'])
    await waiting.find(/3 jobs; "berth ls/)
    const label = setup.cli.begin(['wait', '--label', 'sweep=waited', '--json', 'id,state', '-o', 'jsonl'])
    await berth('cancel', '--label', 'sweep=waited', '--yes')
    const { code, stdout, stderr } = await waiting.ended
    expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 130, lines: 3 })
    expect(stderr).toMatch(/berth: 3 jobs: 3 CANCELLED\n$/)
    const ended = await label.ended
    expect(ended.code).toBe(130)
    expect(
      ended.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).state),
    ).toEqual(Array(3).fill('CANCELLED'))
  })

  it.each([
    ['a label that no job has', ['wait', '--label', 'sweep=none'], 5],
    ['a job and a label', ['wait', 'job_1', '--label', 'sweep'], 2],
    ['--follow', ['submit', '--sweep', 'n=1', '--follow', '--', 'true'], 2],
  ])('is refused with %s', async (_, words, code) => {
    expect(await berth(...words)).toMatchObject({ code, stdout: '' })
  })

  it('has its logs printed by berth logs --label', async () => {
    const ids = (await submit('--label', 'sweep=logged', '--name', 'lr {lr}', '--sweep', 'lr=1,2', '--', 'x')).split(
      '\n',
    )
    for (const id of ids) await writeLog(setup.server.domain.db.sql, id, [out('done\n')])
    const { stdout } = await berth('logs', '--label', 'sweep=logged')
    expect(stdout.split('\n').toSorted()).toEqual(['', 'lr 1 | done', 'lr 2 | done'])
  })

  it.each([
    [
      [
        ['FAILED', 3],
        ['FAILED', 1],
        ['CANCELLED', null],
      ],
      3,
    ],
    [
      [
        ['CANCELLED', null],
        ['INTERRUPTED', null],
      ],
      75,
    ],
    [
      [
        ['CANCELLED', null],
        ['SUCCEEDED', 0],
      ],
      130,
    ],
    [[['SUCCEEDED', 0]], 0],
    [[], 0],
  ] as const)('with jobs that ended as %j exits with %i', (jobs, code) => {
    expect(findWorstExitCode(jobs.map(([state, exitCode]) => ({ state, exitCode }) as JobRowFragment))).toBe(code)
  })
})

it('berth info prints no run before the first run has started', async () => {
  expect((await berth('info', await submit('--', 'true'))).stdout).not.toMatch(/^run /m)
  expect((await berth('info', await submit('--attempts', '3', '--', 'true'))).stdout).toMatch(/^run +at most 3$/m)
})

describe.each([40, 80, 120])('on a terminal with %i columns', (columns) => {
  const lists = [
    'ls',
    'workload',
    'user ls',
    'node ls',
    'team ls',
    'token ls',
    'audit',
    'quota',
    'gpus',
    'slot ls',
    'rules',
  ]

  it.each(lists)('the lines of berth %s fit', async (words) => {
    const env = { NO_COLOR: '1' }
    const { stdout } = await setup.cli.run(words.split(' '), { columns, env })
    // The first line of a workload is a sentence.
    const rows = words === 'workload' ? stdout.split('\n').slice(2) : stdout.split('\n')
    expect(rows.filter((line) => line.length > columns)).toEqual([])
  })
})
