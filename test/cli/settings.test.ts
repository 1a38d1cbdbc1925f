import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommandLine } from '../support/command-line.ts'
import { root } from '../support/sources.ts'

const commandLine = new CommandLine('/nonexistent')
const run = (env: Record<string, string>, args = ['ls']) => commandLine.run(args, { env })

test('a wrong BERTH_URL is reported in one line', async () => {
  const { code, stderr } = await run({ BERTH_URL: 'localhost:4000' })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'berth: "localhost:4000" is not the URL of a server, such as http://127.0.0.1:4000; set BERTH_URL\n',
  })
})

test('an invalid BERTH_TOKEN is reported before a connection', async () => {
  const { code, stderr } = await run({ BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'bérth' })
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr:
      'berth: The token contains characters that are not allowed in a token; log in with "berth login", or set BERTH_TOKEN to a valid token\n',
  })
})

test('a BERTH_URL with a password is refused without showing it', async () => {
  const { code, stderr } = await run({ BERTH_URL: 'http://user:secret@127.0.0.1:4000' })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^berth: The URL of a server must not contain a user or password; .*\n$/)
  expect(stderr).not.toContain('secret')
})

test.each([
  [['quota', 'creat'], "unknown command 'quota creat'; the commands of quota are usage, ls, create, update, rm"],
  [['help', 'submitt'], 'unknown command \'submitt\' (Did you mean submit?); see "berth --help"'],
])('%j lists the known commands', async (args, message) => {
  expect(await run({}, args)).toMatchObject({ code: 2, stdout: '', stderr: `berth: ${message}\n` })
})

test('a live view without a server shows how to start one', async () => {
  const { code, stderr } = await run({ BERTH_URL: 'http://127.0.0.1:1' }, ['top'])
  expect(code).toBe(4)
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
