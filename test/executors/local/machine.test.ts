import { execFile } from 'node:child_process'
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { detectMachine } from '../../../src/executors/local/machine.ts'
import { createLog } from '../../../src/platform/log.ts'
import { findCgroupTree } from '../../support/cgroup-tree.ts'
import { makeDirectory } from '../../support/directory.ts'
import { recordLines } from '../../support/recorded-lines.ts'

const gib = 1024 ** 3

/** A folder of the PATH for imitations of nvidia-smi. */
let folder: string

beforeEach(async () => {
  folder = makeDirectory()
  vi.stubEnv('PATH', folder)
})
afterEach(async () => {
  vi.unstubAllEnvs()
})

async function detect() {
  const { destination, lines } = recordLines()
  const { gpus } = await detectMachine(createLog('info', { destination }))
  return { gpus, lines }
}

test('a machine without nvidia-smi has no GPUs, without a warning', async () => {
  expect(await detect()).toEqual({ gpus: [], lines: [] })
})

test('an unreadable folder in PATH is logged, and does not prevent the start of the server', async () => {
  // The kernel reports EACCES, as for a folder that the account may not enter (root may).
  await writeFile(join(folder, 'nvidia-smi'), '#!/bin/sh\n', { mode: 0o644 })
  const { gpus, lines } = await detect()
  expect(gpus).toEqual([])
  expect(lines).toMatchObject([{ code: 'EACCES', msg: expect.stringContaining('without GPUs') }])
})

test('a failing nvidia-smi prevents the start of the server', async () => {
  await writeFile(join(folder, 'nvidia-smi'), '#!/bin/sh\nexit 9\n', { mode: 0o755 })
  await expect(detect()).rejects.toThrow(/nvidia-smi failed/)
})

const memoryTree = findCgroupTree('memory')

test.skipIf(memoryTree === undefined)(
  'the memory of the machine is the limit of the cgroup, for a server in a cgroup',
  async (context) => {
    const cgroup = join(memoryTree ?? '', basename(folder))
    await mkdir(cgroup)
    try {
      const [limit = context.skip()] = (await readdir(cgroup)).filter((name) =>
        /^memory\.(limit_in_bytes|max)$/.test(name),
      )
      await writeFile(join(cgroup, limit), `${3 * gib}`)
      const machine = join(import.meta.dirname, '../../../src/executors/local/machine.ts')
      const text = `import { detectMachine } from '${machine}'; console.log((await detectMachine(console)).memoryBytes)`
      const enter = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
      const node = [process.execPath, '--input-type=module', '--eval', text]
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', enter, cgroup, ...node])
      expect(Number(stdout)).toBe(Math.min(3 * gib, totalmem()) - gib)
    } finally {
      await rmdir(cgroup)
    }
  },
)
