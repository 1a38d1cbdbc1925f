import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandLine } from '../support/command-line.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let home: string
let berth: CommandLine
let env: Record<string, string>

beforeAll(async () => {
  server = await startServer()
  home = await mkdtemp(join(tmpdir(), 'berth-pick-'))
  berth = new CommandLine(home)
  env = { BERTH_URL: server.url }
  for (const name of ['train', 'evaluate', 'clean']) await berth.run(['submit', '--name', name, '--', 'true'], { env })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true })
})

it('a missing job is chosen on a terminal: typing narrows the list', async () => {
  const info = berth.startOnTerminal(['info'], { env })
  await info.find(/Which job\?[\s\S]*clean[\s\S]*evaluate[\s\S]*train/)
  info.child.stdin?.write('eval')
  await info.find(/1 match/)
  info.child.stdin?.write('\r')
  const { code, stdout } = await info.ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/name[^\n]*evaluate/)
})

it('top cancels a job by keys, and restores the screen', async () => {
  const top = berth.startOnTerminal(['top'], { env })
  await top.find(/> .*QUEUED[\s\S]*q quit/)
  top.child.stdin?.write('/clean\rc')
  await top.find(/cancel clean \(job_\w+\)\? y\/N/)
  top.child.stdin?.write('y')
  await top.find(/cancelling clean/)
  top.child.stdin?.write('q')
  const { code, stdout } = await top.ended
  expect(code).toBe(0)
  expect(stdout).toContain('\u001b[?1049l')
  expect((await berth.run(['ls', '--name', 'clean', '-o', 'jsonl', '--json', 'state'], { env })).stdout).toContain(
    'CANCELLED',
  )
})

it('a choice that is cancelled, and a missing job in a pipe, are usage errors', async () => {
  const info = berth.startOnTerminal(['info'], { env })
  await info.find(/Which job\?/)
  info.child.stdin?.write('\u0003')
  expect(await info.ended).toMatchObject({ code: 2, stdout: expect.stringContaining('pass its id') })
  const piped = await berth.run(['info'], { env })
  expect(piped).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining("missing required argument 'job'"),
  })
})
