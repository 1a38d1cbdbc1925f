import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandLine } from '../support/command-line.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { root } from '../support/sources.ts'

let server: TestServer
let home: string
let berth: CommandLine
let env: Record<string, string>
let id: string

beforeAll(async () => {
  server = await startServer()
  home = await mkdtemp(join(tmpdir(), 'berth-pipes-'))
  berth = new CommandLine(home)
  env = { BERTH_URL: server.url }
  for (const name of ['one', 'two', 'three'])
    id = (await berth.run(['submit', '--name', name, '--', 'true'], { env })).stdout.trim()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true })
})

/** Verbs that read, without those that follow until something ends. */
const verbs = [
  'ls',
  'ls --group-by user',
  'info JOB',
  'events JOB',
  'logs JOB',
  'why JOB',
  'spec JOB',
  'diff JOB JOB',
  'usage',
  'workload',
  'gpus',
  'limits',
  'quota',
  'quota ls',
  'rules',
  'approve',
  'node ls',
  'reservation ls',
  'slot ls',
  'artifact ls JOB',
  'user ls',
  'user info',
  'team ls',
  'token ls',
  'whoami',
  'context ls',
  'audit',
  'doctor',
  'webhooks ls',
]

describe('in a pipe', () => {
  it.each(verbs)('%s prints lines without colours, prompts and progress', async (verb) => {
    const words = verb.split(' ').map((word) => (word === 'JOB' ? id : word))
    const { stdout, stderr } = await berth.run(words, { env })
    expect(stdout).toMatch(/^(?:[^\p{Cc}]*\n)*$/u)
    expect(stderr).toMatch(/^(?:[^\p{Cc}]*\n)?$/u)
  })

  const shell = (script: string) =>
    promisify(execFile)('bash', ['-o', 'pipefail', '-c', script], {
      env: { PATH: `${root}:${process.env['PATH']}`, HOME: home, ...env },
    })

  it('ids are words for xargs', async () => {
    const { stdout } = await shell('berth ls -o ids | xargs -n 1 berth info -o json | grep -c \'"state": "QUEUED"\'')
    expect(stdout).toBe('3\n')
  })

  it('a reader that leaves ends the command quietly', async () => {
    expect(await shell('berth ls -o jsonl | head -n 1 | wc -l')).toEqual({ stdout: '1\n', stderr: '' })
  })
})
