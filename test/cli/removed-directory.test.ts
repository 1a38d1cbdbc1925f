import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'

test('a command runs in a directory that was removed, unless it needs the directory', async () => {
  const folder = makeDirectory()
  const run = (...args: string[]) => {
    const command = `mkdir -p "${folder}" && cd "${folder}" && rmdir "${folder}" && exec "$0" "$@"`
    const env = { ...process.env, BERTH_URL: 'http://127.0.0.1:1' }
    const argv = ['-c', command, process.execPath, join(root, 'src/cli/main.ts'), ...args]
    return spawnSync('/bin/sh', argv, { env, encoding: 'utf8' }).stderr
  }
  expect(run('ls')).toMatch(/^berth: No server answers/)
  expect(run('submit', '--', 'true')).toBe('berth: the current directory was removed; change to another directory\n')
})
