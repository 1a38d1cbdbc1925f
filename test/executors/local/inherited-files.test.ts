import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { JobSpec } from '../../../src/domain/spec.ts'
import { makeDirectory } from '../../support/directory.ts'
import { makeRun } from '../runs.ts'

/** A job inherits only the three files of its streams, whatever files the program that started the server had open. */
const bash = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path))
const isPossible = process.platform === 'linux' && bash !== undefined
const accounts = process.getuid?.() === 0 ? [null, 'nobody'] : [null]

let directory: string
let server: ChildProcess

beforeEach(async () => {
  directory = makeDirectory()
  await chmod(directory, 0o755)
  await writeFile(join(directory, 'pre'), ':\n')
  const script = 'exec 11</etc/hosts 37</etc/hosts 251</etc/passwd; exec "$0" "$@"'
  const args = ['-c', script, process.execPath, join(import.meta.dirname, 'server.ts'), join(directory, 'spool')]
  server = spawn(bash ?? '', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(server, 'message')
})
afterEach(async () => {
  server.kill()
  await once(server, 'exit')
})

const specs: Partial<JobSpec>[] = [
  {},
  { preLaunch: 'pre' },
  { launcher: 'multiple', resources: { processCount: 2 } as JobSpec['resources'] },
]

it.runIf(isPossible)('a job inherits no file descriptors of the server, under each account and launcher', async () => {
  expect(execFileSync(bash ?? '', ['-c', 'exec 37</etc/hosts; readlink /proc/self/fd/37'], { encoding: 'utf8' })).toBe(
    '/etc/hosts\n',
  )
  const script = 'for each in /proc/self/fd/*; do basename "$each"; done; head -c 1001 /dev/zero; sleep 1'
  for (const unixUser of accounts)
    for (const spec of specs) {
      const { resources, ...rest } = spec
      const run = makeRun({ command: ['/bin/sh', '-c', script], workdir: directory, ...rest }, { unixUser })
      // `makeRun` gives all runs the same resources.
      server.send({ ...run, spec: { ...run.spec, resources: { ...run.spec.resources, ...resources } } })
      const [{ out }] = (await once(server, 'message')) as [{ out: string }]
      const numbers = new Set(out.replaceAll('\0', '').match(/\d+/g)?.map(Number))
      // The shell opens the folder to list it.
      expect([...numbers].filter((number) => number > 3)).toEqual([])
      expect([...numbers]).toEqual(expect.arrayContaining([0, 1, 2]))
    }
})
