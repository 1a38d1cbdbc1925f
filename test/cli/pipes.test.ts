import { execFile, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/sources.ts'
import { useTestServer } from './server-and-cli.ts'

const setup = useTestServer()
let id: string
beforeAll(async () => {
  for (const name of ['one', 'two', 'three'])
    id = (await setup.berth('submit', '--name', name, '--', 'true')).stdout.trim()
})

/** Commands that read, without those that follow a job or a list. */
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

describe('a command in a pipe', () => {
  it.each(verbs)('prints lines without colours, prompts and progress: %s', async (verb) => {
    const words = verb.split(' ').map((word) => (word === 'JOB' ? id : word))
    const { stdout, stderr } = await setup.cli.run(words)
    expect(stdout).toMatch(/^(?:[^\p{Cc}]*\n)*$/u)
    expect(stderr).toMatch(/^(?:[^\p{Cc}]*\n)?$/u)
  })

  const shell = (script: string) =>
    promisify(execFile)('bash', ['-o', 'pipefail', '-c', script], {
      env: { PATH: `${root}:${process.env['PATH']}`, HOME: setup.cli.home, BERTH_URL: setup.server.url },
    })

  it('prints ids that xargs can read with -o ids', async () => {
    const { stdout } = await shell('berth ls -o ids | xargs -n 1 berth info -o json | grep -c \'"state": "QUEUED"\'')
    expect(stdout).toBe('3\n')
  })

  it('ends without an error when the reader closes the pipe', async () => {
    expect(await shell('berth ls -o jsonl | head -n 1 | wc -l')).toEqual({ stdout: '1\n', stderr: '' })
  })
})

it.runIf(existsSync('/dev/full'))('a command reports a full disk in one line', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'submit', '--print-spec'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'berth: cannot write the output: ENOSPC: no space left on device, write\n',
  })
})
