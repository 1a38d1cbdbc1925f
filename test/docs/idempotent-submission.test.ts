import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { root } from '../support/sources.ts'

/** The bash script of docs/idempotent-submission.md, run as it stands there. */
let server: TestServer
let dir: string
let script: string

beforeAll(async () => {
  server = await startServer()
  dir = await mkdtemp(join(tmpdir(), 'berth-docs-'))
  const guide = await readFile(join(root, 'docs/idempotent-submission.md'), 'utf8')
  script = join(dir, 'submit.sh')
  await writeFile(script, guide.match(/```bash\n([\s\S]*?)```/)?.[1] ?? '')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

function submit(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', BERTH_URL: server.url }
    const child = execFile('bash', [script, ...args], { env, timeout: 100_000 }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

it('the example submits once per key', async () => {
  const first = await submit('gh-owner/repo-0f3a', 'echo', 'a "b" c')
  expect(first).toEqual({ code: 0, stdout: expect.stringMatching(/^job_\w{26}\n$/), stderr: '' })
  expect(await submit('gh-owner/repo-0f3a', 'echo', 'a "b" c')).toEqual({ ...first, stderr: 'known already\n' })
  const [row] = await server.domain.db.sql.query("SELECT spec->>'command' AS command FROM job")
  expect(row).toEqual({ command: '["echo", "a \\"b\\" c"]' })
})

it('the example does not retry a permanent refusal', async () => {
  expect(await submit('gh-owner/repo-0f3a', 'false')).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^IDEMPOTENCY_CONFLICT: /),
  })
})
