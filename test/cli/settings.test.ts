import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/sources.ts'

const run = (env: Record<string, string>, args = ['ls']) =>
  spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })

test('a wrong BERTH_URL is reported in one line', () => {
  const { status, stderr } = run({ BERTH_URL: 'localhost:4000' })
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: 'berth: "localhost:4000" is not the URL of a server, such as http://127.0.0.1:4000; set BERTH_URL\n',
  })
})

test('an invalid BERTH_TOKEN is reported before a connection', () => {
  const { status, stderr } = run({ BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'bérth' })
  expect({ status, stderr }).toEqual({
    status: 6,
    stderr:
      'berth: The token contains characters that are not allowed in a token; log in with "berth login", or set BERTH_TOKEN to a valid token\n',
  })
})

test('a BERTH_URL with a password is refused without showing it', () => {
  const { status, stderr } = run({ BERTH_URL: 'http://user:secret@127.0.0.1:4000' })
  expect(status).toBe(2)
  expect(stderr).toMatch(/^berth: The URL of a server must not contain a user or password; .*\n$/)
  expect(stderr).not.toContain('secret')
})

test.each([
  [['quota', 'creat'], "unknown command 'quota creat'; the commands of quota are usage, ls, create, update, rm"],
  [['help', 'submitt'], 'unknown command \'submitt\' (Did you mean submit?); see "berth --help"'],
])('%j lists the known commands', (args, message) => {
  expect(run({}, args)).toMatchObject({ status: 2, stdout: '', stderr: `berth: ${message}\n` })
})

test('a live view without a server shows how to start one', () => {
  const { status, stderr } = run({ BERTH_URL: 'http://127.0.0.1:1' }, ['top'])
  expect(status).toBe(4)
  expect(stderr).toMatch(/^berth: No server answers .*; start a server with "berth up", or set BERTH_URL\n$/)
})

test.runIf(existsSync('/dev/full'))('a full disk is reported in one line', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'submit', '--print-spec'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'berth: cannot write the output: ENOSPC: no space left on device, write\n',
  })
})
