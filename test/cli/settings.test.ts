import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/sources.ts'

const run = (env: Record<string, string>) =>
  spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'ls'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })

test('a wrong BERTH_URL is one line that says what is wrong', () => {
  const { status, stderr } = run({ BERTH_URL: 'localhost:4000' })
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: 'berth: "localhost:4000" is not the URL of a server, such as http://127.0.0.1:4000; set BERTH_URL\n',
  })
})

test('a BERTH_TOKEN that can be none is not a server that does not answer', () => {
  const { status, stderr } = run({ BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'bérth' })
  expect({ status, stderr }).toEqual({
    status: 6,
    stderr: 'berth: The token has characters that no token has; set BERTH_TOKEN\n',
  })
})
