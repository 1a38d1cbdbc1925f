import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { root } from '../support/sources.ts'

/** Keys, quotas and retries on the command line. */
let database: TestDatabase
let server: BerthProcess
let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-cli-'))
  await chmod(dataDir, 0o711)
  database = await createDatabase()
  server = await startBerth({ dataDir, port: await freePort(), env: { DATABASE_URL: database.url } })
}, 60_000)

afterAll(async () => {
  await server?.end()
  await database?.close()
  await rm(dataDir, { recursive: true, force: true })
})

function berth(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', BERTH_URL: server.url }
    const child = execFile(join(root, 'berth'), args, { cwd: dataDir, env, timeout: 60_000 }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

it('a key answers with its job, tells a conflict, and can be looked up', async () => {
  const first = await berth('submit', '--idempotency-key', 'ci-1', '--', 'true')
  expect(first).toMatchObject({ code: 0, stderr: '' })
  const again = await berth('submit', '--idempotency-key', 'ci-1', '--', 'true')
  expect(again).toMatchObject({ code: 0, stdout: first.stdout, stderr: expect.stringContaining('was used before') })
  const other = await berth('submit', '--idempotency-key', 'ci-1', '--', 'false')
  expect(other).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^berth: The key "ci-1" was used/) })
  expect((await berth('key', 'ci-1')).stdout).toContain(first.stdout.trim())
  expect(await berth('key', 'nobody')).toMatchObject({ code: 5, stdout: '' })
})

it('a retry is a new job with the changes that were said', async () => {
  const failed = (await berth('submit', '--name', 'flaky', '--', 'sh', '-c', 'exit 3')).stdout.trim()
  expect((await berth('wait', failed)).code).toBe(3)
  const { code, stdout } = await berth('retry', failed, '--wait', '--', 'true')
  expect(code).toBe(0)
  expect(stdout.trim()).not.toBe(failed)
  expect((await berth('info', stdout.trim())).stdout).toMatch(/^name +flaky$/m)
})

it('a quota is made, seen, met, changed and removed', async () => {
  const made = await berth('quota', 'create', '--type', 'jobs-per-day', '--limit', '0', '-o', 'json')
  const [quota] = JSON.parse(made.stdout)
  expect(quota).toMatchObject({ type: 'JOBS_PER_DAY', action: 'BLOCK', scope: 'GLOBAL', key: null, limit: 0 })
  expect((await berth('quota', 'ls')).stdout).toContain(quota.id)
  expect((await berth('quota')).stdout).toMatch(/^JOBS_PER_DAY +BLOCK +user:local +\d+ +0$/m)
  expect(await berth('submit', '--', 'true')).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^berth: Quota exceeded: Maximum 0 jobs per day allowed/),
  })
  expect((await berth('quota', 'update', quota.id, '--action', 'warn')).code).toBe(0)
  expect((await berth('submit', '--', 'true')).stderr).toMatch(/^berth: Quota warning: /)
  expect(await berth('quota', 'rm', quota.id)).toMatchObject({ code: 0, stdout: `${quota.id}\n` })
})
