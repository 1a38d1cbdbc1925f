import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeDirectory } from '../support/directory.ts'
import { openTestServer } from '../support/server.ts'
import { root } from '../support/sources.ts'

/** Runs the programs of docs/idempotent-submission.md unchanged. */
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.error('SKIPPED: python3 not found, which the recipe in Python needs.')

const dir = makeDirectory()

const server = await openTestServer()

describe.each([
  { language: 'bash', program: 'bash', repeated: 'known already\n', code: 3, isMissing: false },
  { language: 'python', program: 'python3', repeated: '', code: 1, isMissing: !hasPython },
])('the example of an idempotent submission in $language', ({ language, program, repeated, code, isMissing }) => {
  let script: string
  beforeAll(async () => {
    const guide = await readFile(join(root, 'docs/idempotent-submission.md'), 'utf8')
    script = join(dir, language)
    await writeFile(script, guide.match(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``))?.[1] ?? '')
  })

  const submit = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const env = { PATH: process.env['PATH'] ?? '', BERTH_URL: server.url }
      const child = execFile(program, [script, ...args], { env, timeout: 100_000 }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      )
    })

  it.skipIf(isMissing)('submits one job for each idempotency key', async () => {
    const first = await submit(`gh-${language}-0f3a`, 'echo', 'a "b" c')
    expect(first).toEqual({ code: 0, stdout: expect.stringMatching(/^job_\w{26}\n$/), stderr: '' })
    expect(await submit(`gh-${language}-0f3a`, 'echo', 'a "b" c')).toEqual({ ...first, stderr: repeated })
    const [row] = await server.domain.db.sql.query("SELECT spec->>'command' AS command FROM job WHERE id = $1", [
      first.stdout.trim(),
    ])
    expect(row).toEqual({ command: '["echo", "a \\"b\\" c"]' })
  })

  it.skipIf(isMissing)('does not repeat a request that was refused permanently', async () => {
    await submit(`gh-${language}-1`, 'true')
    expect(await submit(`gh-${language}-1`, 'false')).toEqual({
      code,
      stdout: '',
      stderr: expect.stringMatching(/^IDEMPOTENCY_CONFLICT: /),
    })
  })
})
