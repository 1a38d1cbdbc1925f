import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { listPermissions, userLevels } from '../../src/domain/access.ts'
import { openServer } from '../support/api.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'

/** Runs all commands of the guide in one shell, against a server with a bootstrap token. */
const secret = 'bootstrap-secret-of-this-test'
const { server } = await openServer('', { BERTH_BOOTSTRAP_TOKEN: secret })
const directory = makeDirectory()
await symlink(join(root, 'berth'), join(directory, 'berth'))

test('the commands of the guide to users and tokens work', async () => {
  const guide = await readFile(join(root, 'docs/users-and-tokens.md'), 'utf8')
  const script = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n')
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, BERTH_URL: server.url, BERTH_BOOTSTRAP_TOKEN: secret }
  const { stdout } = await promisify(execFile)('sh', ['-ec', script], { cwd: directory, env })
  expect(stdout).toMatch(/^admin +ADMIN/m)
  expect(stdout).toMatch(/^ann +RESEARCHER +ml +active/m)
  expect(stdout).toMatch(/^ml +ml +ann,ben/m)
  expect(stdout).toMatch(/^job_/m)
  expect(stdout).toMatch(/^berth_\w+ +ci +ann +READ,SUBMIT/m)
  expect(stdout).toContain(
    '{"data":{"viewer":{"user":{"name":"ann"},"scopes":["READ","SUBMIT","OPERATE","ADMIN","EXEC"]}}',
  )
  expect(await readFile(join(directory, 'ci-token'), 'utf8')).toMatch(/^berth_[0-9a-z]{10}[\w-]{43}\n$/)
  expect(stdout).not.toContain(secret)
  if (process.getuid?.() !== 0) return
  const submit = promisify(execFile)('./berth', ['submit', '--', 'id'], {
    cwd: directory,
    env: { ...env, BERTH_TOKEN: secret },
  })
  await expect(submit).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the user admin has no unixUser'),
  })
})

test('the guide names the permissions of each level', async () => {
  const guide = await readFile(join(root, 'docs/users-and-tokens.md'), 'utf8')
  const named = userLevels.map((level) => {
    const [, row = ''] = new RegExp(`^\\| ${level} \\| \\d+ \\| (.*) \\|$`, 'm').exec(guide) ?? []
    return [...row.matchAll(/`([^`]+)`/g)].map(([, permission]) => permission)
  })
  expect(named.map((_, at) => named.slice(0, at + 1).flat())).toEqual(
    userLevels.map((level) => [...listPermissions(level)]),
  )
})
