import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useTestServer } from './server-and-cli.ts'

const setup = useTestServer()
const { berth } = setup

const valuesMax = 65_536
const set = (input: string, ...args: string[]) => setup.cli.run(['secret', 'set', ...args], { input })
const list = async (...args: string[]) =>
  JSON.parse((await berth('secret', 'ls', '-o', 'json', ...args)).stdout).map(
    ({ name, team, ownedBy }: { name: string; team: { name: string } | null; ownedBy: { name: string } | null }) =>
      `${team?.name ?? ownedBy?.name}/${name}`,
  )

test('berth secret sets a secret for jobs from stdin, lists it without its value, and removes it', async () => {
  const made = await set('the value\n', 'API_KEY')
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^NAME +OWNER +SET +BY +USED\nAPI_KEY +local /) })
  expect(await list()).toEqual(['local/API_KEY'])
  expect((await berth('secret', 'ls', '-o', 'json')).stdout).not.toContain('the value')
  const { stdout } = await berth('submit', '--secret', 'API_KEY', '--print-spec', '--', 'true')
  expect(stdout).toMatch(/^secrets:\n +- API_KEY$/m)
  const id = (await berth('submit', '--secret', 'API_KEY', '--', 'true')).stdout.trim()
  expect((await berth('spec', id)).stdout).toMatch(/^secrets:\n +- API_KEY$/m)
  const refused = await berth('submit', '--secret', 'API_KEY', '--secret', 'OTHER', '--', 'true')
  expect(refused.stderr).toContain('You have no secret OTHER')
  expect((await berth('secret', 'rm', 'API_KEY')).stdout).toMatch(/^secret_/)
  expect(await berth('secret', 'rm', 'API_KEY')).toMatchObject({
    code: 5,
    stderr: 'berth: Secret API_KEY not found; "berth secret ls" lists the secrets\n',
  })
})

test('the secrets of a team are separate from those of the user', async () => {
  await berth('team', 'create', 'ml')
  await set('value of the team', 'SHARED', '--team', 'ml')
  await set('own value', 'SHARED')
  expect((await list()).toSorted()).toEqual(['local/SHARED', 'ml/SHARED'])
  expect(await list('--team', 'ml')).toEqual(['ml/SHARED'])
  await berth('secret', 'rm', 'SHARED', '--team', 'ml')
  expect(await list()).toEqual(['local/SHARED'])
})

test('the refusal of an invalid value or name does not show the value', async () => {
  expect(await set('\n', 'EMPTY')).toMatchObject({
    code: 2,
    stderr: 'berth: the value is empty; pass it with "berth secret set EMPTY < file"\n',
  })
  const long = `marker${'x'.repeat(valuesMax)}`
  for (const refused of [await set(long, 'LONG'), await set('marker', 'PATH'), await set('a\0marker', 'NUL')]) {
    expect(refused.code).toBe(2)
    expect(refused.stderr).not.toContain('marker')
  }
  await writeFile(join(setup.cli.home, 'job.yaml'), 'command: ["true"]\nsecrets: API_KEY\n')
  expect((await berth('submit', '-f', 'job.yaml')).stderr).toContain('secrets is not a list')
})

test.runIf(process.platform === 'linux')('the value of a secret is not shown while the user types it', async () => {
  const command = setup.cli.startOnTerminal(['secret', 'set', 'TYPED'])
  await command.find(/Value of TYPED: /)
  command.child.stdin?.write('typed value\r')
  const { code, stdout } = await command.ended
  expect({ code, isShown: stdout.includes('typed value') }).toEqual({ code: 0, isShown: false })
  expect(await list()).toContain('local/TYPED')
})
