import { beforeAll, expect, it } from 'vitest'
import { submitJobs } from '../support/submit-jobs.ts'
import { until } from '../support/until.ts'
import { useTestServer } from './server-and-cli.ts'

/** The queued jobs of a large sweep, and the command that cancels them. */
const count = 10_000
const cancel = ['cancel', '--label', 'sweep=lr', '--state', 'queued']
const spec = { command: ['true'], labels: [{ key: 'sweep', value: 'lr' }] }

const setup = useTestServer({
  singleUser: false,
  isNew: true,
  authenticate: (authorization, { users }) => users.get(authorization?.replace('Bearer ', '') ?? '') ?? null,
})
const env = { BERTH_TOKEN: 'rita' }
/** A job of the same sweep that another person submitted. */
let foreign: string

beforeAll(async () => {
  const { server } = setup
  const rita = await server.user('rita', 'RESEARCHER', ['job.view.all'])
  foreign = await server.submit(spec)
  const batch = Array.from({ length: 1_000 }, () => ({ spec }))
  for (let done = 0; done < count; done += batch.length) await submitJobs(server.domain, rita, batch)
})

async function countCancelled(): Promise<number> {
  const rows = await setup.server.domain.db.sql.query<{ id: string }>(`SELECT id FROM job WHERE state = 'CANCELLED'`)
  return rows.length
}

it('berth cancel cancels all of 10,000 jobs when it is repeated after two interruptions', async () => {
  const asked = setup.cli.startOnTerminal(cancel, { env })
  await asked.find(/Cancel 10000 jobs\? \[y\/N\]/)
  asked.child.stdin?.write('y\r')
  await asked.find(/[1-9]000 of 10000 jobs cancelled/)
  asked.child.stdin?.write('\u0003')
  expect((await asked.ended).code).not.toBe(0)

  const killed = setup.cli.start([...cancel, '--yes'], { env })
  const before = await countCancelled()
  await until(async () => (await countCancelled()) > before, { what: 'the second command cancels' })
  killed.child.kill('SIGKILL')
  await killed.ended
  expect(await countCancelled()).toBeLessThan(count)

  expect(await setup.cli.run(cancel, { env })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^berth: the filters match \d+ jobs; pass --yes .*\n$/),
  })
  expect(await setup.cli.run([...cancel, '--yes'], { env })).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+ jobs cancelled\n$/),
    stderr: '',
  })
  expect(await countCancelled()).toBe(count)
  expect(await setup.cli.run([...cancel, '--yes'], { env })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'berth: no job to cancel matches\n',
  })
})

it('berth cancel lists the jobs that it cannot cancel, and exits with the code of the first one', async () => {
  const { stdout: own } = await setup.cli.run(['submit', '-o', 'ids', '--mem', '1', '--', 'true'], { env })
  const ids = [foreign, own.trim(), 'job_nowhere']
  const { code, stdout, stderr } = await setup.cli.run(['cancel', ...ids, '-o', 'ids'], { env })
  expect({ code, stdout }).toEqual({ code: 6, stdout: own })
  const [first, second, ...rest] = stderr.split('\n')
  expect(first).toMatch(new RegExp(`^berth: ${foreign}: .*permission`))
  expect(second).toMatch(/^berth: job_nowhere: .*not found; "berth ls" lists your jobs$/)
  expect(rest).toEqual([''])
})
