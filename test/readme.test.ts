import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BerthServer, freePort, startBerth } from './support/berth-server.ts'
import { makeDirectory } from './support/directory.ts'
import { root } from './support/sources.ts'

/**
 * Runs the commands of the README. `npm ci`, `npm start` and `npm run check` are left out, because this test needs them
 * to run.
 */
const dataDir = makeDirectory()
let server: BerthServer
let commands: string[]

const run = promisify(execFile)
const defaultUrl = 'http://127.0.0.1:4000'

beforeAll(async () => {
  server = await startBerth({ dataDir, port: await freePort() })
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  commands = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
})
afterAll(() => server.end())

/** Runs in a shell, in the clone, against the server of the test instead of the default one. */
async function shell(command: string): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, BERTH_URL: server.url }
  const { stdout } = await run('sh', ['-c', command.replaceAll(defaultUrl, server.url)], { cwd: root, env })
  return stdout
}

const blockWith = (text: string) => commands.find((block) => block.includes(text)) ?? `no block with ${text}`

test('the first submission of the README runs as pasted, and shows its output', async () => {
  expect(await shell(blockWith('./berth submit --follow'))).toContain('Hello from Berth\n')
})

test('the same submission works through the API', async () => {
  const answer = JSON.parse(await shell(blockWith('curl'))) as unknown
  expect(answer).toMatchObject({
    data: { submitJob: { job: { id: expect.stringMatching(/^job_/), state: 'QUEUED' } } },
  })
})

test('the first steps of the README work', async () => {
  const steps = blockWith('./berth ls')
    .replace(/python train.py --epochs 10/, 'sleep 60')
    .replace('make test', 'sh -c "exit 3"')
  const [submit = '', list = '', info = '', logs = '', cancel = '', wait = ''] = steps.split('\n')
  const id = (await shell(submit)).trim()
  expect(await shell(list)).toContain(id)
  expect(await shell(info.replace('JOB', id))).toContain('train')
  expect(await shell(cancel.replace('JOB', id))).toContain(id)
  expect(await shell(logs.replace('JOB', id))).toBe('')
  await expect(shell(wait)).rejects.toMatchObject({ code: 3 })
})

test('the submission that a server prints at its start is the one in the README', () => {
  expect(server.output()).toContain('submit --follow -- echo "Hello from Berth"')
})
