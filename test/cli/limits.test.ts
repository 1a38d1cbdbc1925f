import { expect, it } from 'vitest'
import { useBerth } from './server-and-cli.ts'

/** Limits, dry runs and --no-wait on the command line, with a server that runs jobs. */
const setup = useBerth()
const { berth } = setup

it('berth limits shows and sets limits, also of a project', async () => {
  expect((await berth('limits')).stdout).toMatch(/^pool +local\nrunning jobs +unlimited$/m)
  const set = await berth('limits', 'set', '--max-concurrent', '5', '--user-max-concurrent', 'unlimited')
  expect(set).toMatchObject({ code: 0, stdout: expect.stringMatching(/^running jobs +5$/m), stderr: '' })
  expect((await berth('limits', 'scope', 'project', 'apollo', '--jobs', '0')).stdout).toMatch(
    /^project:apollo +0 of 0 +0 of unlimited$/m,
  )
  const shown = JSON.parse((await berth('limits', 'show', '-o', 'json')).stdout)
  expect(shown).toMatchObject({
    maxConcurrent: 5,
    userMaxConcurrent: null,
    scopes: [{ scope: { name: 'apollo' }, maxJobs: 0 }],
  })
  expect((await berth('limits', 'scope', 'project', 'apollo', '--remove')).stdout).not.toContain('apollo')
})

it('berth limits refuses invalid input in one line', async () => {
  expect(await berth('limits', 'set')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^berth: nothing to change/),
  })
  expect(await berth('limits', 'set', '--max-concurrent', 'many')).toMatchObject({ code: 2 })
  expect(await berth('limits', 'scope', 'user', 'local')).toMatchObject({ code: 2 })
  expect(await berth('limits', 'scope', 'user', 'nobody', '--jobs', '1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The user nobody does not exist'),
  })
  expect(await berth('limits', '--pool', 'moon')).toMatchObject({ code: 5 })
})

it('--dry-run prints the outcome; --no-wait starts the job at once, or fails and stores no job', async () => {
  const dry = await berth('submit', '--dry-run', '-o', 'json', '--', 'true')
  const { estimatedStart, ...said } = JSON.parse(dry.stdout)
  expect(said).toMatchObject({ wouldBe: 'STARTING', gpuIds: [], reasons: [], position: null })
  expect(estimatedStart.latest).toBe(estimatedStart.earliest)
  expect((await berth('submit', '--dry-run', '--', 'true')).stdout).toMatch(/^may start +from \d{4}-/m)
  const never = await berth('submit', '--dry-run', '--cpu', '5000', '--', 'true')
  expect(never.stdout).toMatch(/^missing +5000 cpu on one node: \d+ are free$/m)
  expect(never.stderr).toMatch(/^berth: No node of the pool can ever provide 5000 cpu, /m)
  const ran = await berth('submit', '--no-wait', '--follow', '--', 'echo', 'at once')
  expect(ran).toMatchObject({ code: 0, stdout: 'at once\n' })
  await berth('limits', 'set', '--max-concurrent', '0')
  const paused = expect.stringMatching(/^berth: Pool local is paused/)
  expect(await berth('submit', '--no-wait', '--', 'true')).toMatchObject({ code: 4, stdout: '', stderr: paused })
  expect((await berth('submit', '--dry-run', '--', 'true')).stdout).toMatch(
    /^because +Pool local is paused: its limit maxConcurrent is 0$/m,
  )
  expect((await setup.database().query('SELECT id FROM job')).length).toBe(1)
})
