import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { explainSsh, sshArguments, Tunnel } from '../../../src/executors/container/tunnel.ts'
import { createLog } from '../../../src/platform/log.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { fastClock } from '../cluster-server.ts'

/** A tunnel with a script of the test as the program `ssh`. */

let directory: string
let tunnel: Tunnel | null = null

beforeEach(async () => {
  directory = makeDirectory()
})
afterEach(async () => {
  await tunnel?.close()
  tunnel = null
})

const to = { user: 'ann', host: 'gpu1', port: null, socket: '/var/run/docker.sock' }

async function open(script: string): Promise<Tunnel> {
  const path = join(directory, 'ssh')
  await writeFile(path, `#!/bin/sh\nDIRECTORY=\${0%/*}\n${script}\n`)
  await chmod(path, 0o755)
  const environment = { PATH: `${directory}:${process.env['PATH']}`, SSH_AUTH_SOCK: '/agent', BERTH_S3_SECRET: 'x' }
  tunnel = await Tunnel.open({ to, environment, clock: fastClock(100), log: createLog('silent') })
  return tunnel
}

const lines = async (file: string) =>
  (await readFile(join(directory, file), 'utf8').catch(() => '')).split('\n').length - 1
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('ssh asks no questions, forwards the socket of the engine, and gets the host name after "--"', () => {
  const words = sshArguments({ ...to, port: '2222' }, '/tmp/s')
  expect(words).toEqual(expect.arrayContaining(['-N', 'BatchMode=yes', 'ExitOnForwardFailure=yes']))
  expect(words.join(' ')).toMatch(/-l ann -p 2222 -L \/tmp\/s:\/var\/run\/docker.sock -- gpu1$/)
})

it('the environment of ssh contains no secret of the server', async () => {
  await open('env >"$DIRECTORY/env"; exec sleep 600')
  const given = await until(() => readFile(join(directory, 'env'), 'utf8').catch(() => ''), { what: 'ssh runs' })
  expect(given).toContain('SSH_AUTH_SOCK=/agent\n')
  expect(given).not.toContain('BERTH_S3_SECRET')
})

it('ssh is started again when it ends, and its last message is shown as the reason', async () => {
  const one = await open(
    'echo x >>"$DIRECTORY/starts"; echo "connect to host gpu1 port 22: No route to host" >&2; exit 255',
  )
  await until(async () => (await lines('starts')) >= 3, { what: 'the third start' })
  expect(one.explain()).toBe('ssh to gpu1: connect to host gpu1 port 22: No route to host')
})

it('ssh and the folder of its socket are removed when the tunnel is closed', async () => {
  const one = await open('echo $$ >"$DIRECTORY/pid"; exec sleep 600')
  const pid = await until(async () => Number(await readFile(join(directory, 'pid'), 'utf8').catch(() => 0)), {
    what: 'ssh runs',
  })
  await one.close()
  await until(() => !isAlive(pid), { what: 'ssh has ended' })
  await expect(readFile(dirname(one.socketPath))).rejects.toThrow('ENOENT')
})

describe('an error message of ssh', () => {
  it.each([
    ['@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @', 'the host key of gpu1 has changed'],
    ['Host key verification failed.', 'the host key of gpu1 is not known; run "ssh ann@gpu1" once'],
    ['ann@gpu1: Permission denied (publickey).', 'gpu1 accepts no key of the server; run "ssh-copy-id ann@gpu1"'],
    ['channel 2: open failed: connect failed: open failed', 'let ann use the socket ("usermod -aG docker ann")'],
    ['channel 2: open failed: administratively prohibited: x', 'AllowStreamLocalForwarding'],
    ['berth: 1: ssh: not found', 'install openssh-client'],
  ])('becomes a message with the machine and the remedy: "%s"', (said, remedy) => {
    expect(explainSsh(said, to)).toContain(remedy)
  })

  it('about a changed host key is found although other lines follow it', async () => {
    const one = await open(
      'echo "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @" >&2; echo "Host key verification failed." >&2; exit 255',
    )
    await until(() => one.explain(), { what: 'ssh has failed' })
    expect(one.explain()).toContain('has changed')
  })
})
