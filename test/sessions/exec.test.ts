import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { ClientLine } from '../../src/client/channel/client-line.ts'
import { kinds } from '../../src/client/channel/frames.ts'
import { openServer } from '../support/api.ts'
import { freePort } from '../support/berth-server.ts'
import { CommandLine } from '../support/command-line.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** `berth exec` in jobs of the executor local, end to end. */

const { server, api, dataDir } = await openServer(`
pools:
  - { name: local, executor: local, jobsAsRoot: true, nodes: [{ name: here, cpu: 64, memoryGib: 64 }] }
  - { name: shut, executor: local, jobsAsRoot: true, exec: false, nodes: [{ name: here2, cpu: 4, memoryGib: 4 }] }
queues:
  - { name: default, pool: local }
  - { name: shut, pool: shut }
`)
const commandLine = new CommandLine(dataDir, { BERTH_URL: server.url })
const { berth } = commandLine

async function startJob(script = 'sleep 600', more: Record<string, unknown> = {}): Promise<string> {
  const id = await api.submit({
    command: ['sh', '-c', script],
    resources: { memoryGib: 1 },
    environment: [{ name: 'COLOUR', value: 'dark=blue' }],
    ...more,
  })
  const running = async () => (await berth('info', id, '--json', 'state')).stdout.includes('RUNNING')
  await until(running, { what: 'the job runs' })
  return id
}

let job: string
beforeAll(async () => {
  job = await startJob(`cd ${dataDir}; exec sleep 600`)
})

const exec = (...words: string[]) => berth('exec', job, '--', ...words)

describe('a command without a terminal', () => {
  it('keeps stdout, stderr and the exit code separate', async () => {
    const ended = await exec('sh', '-c', 'echo out; echo err >&2; exit 7')
    expect(ended).toMatchObject({ code: 7, stdout: 'out\n' })
    expect(ended.stderr).toMatch(
      /^berth: session_\w{26}: who, when, .* are recorded, not what is typed or printed\nerr\n$/,
    )
  })

  it('has the environment and the directory of the job', async () => {
    expect((await exec('sh', '-c', 'echo "$COLOUR $BERTH_JOB_ID"; pwd')).stdout).toBe(`dark=blue ${job}\n${dataDir}\n`)
  })

  it('receives the end of stdin', async () => {
    expect(await commandLine.run(['exec', job, '--', 'cat'], { input: 'one\ntwo\n' })).toMatchObject({
      code: 0,
      stdout: 'one\ntwo\n',
    })
  })

  it('transfers bytes of any value in both directions, with back-pressure', async () => {
    const bytes = randomBytes(8 * 1024 * 1024)
    const child = spawn(
      process.execPath,
      [join(root, 'src/cli/main.ts'), 'exec', job, '--', 'sh', '-c', 'sleep 0.2; cat'],
      {
        env: { PATH: process.env['PATH'], BERTH_URL: server.url, HOME: dataDir },
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    )
    child.stdin.end(bytes)
    const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex')
    expect(hash(await buffer(child.stdout))).toBe(hash(bytes))
  })

  it('that a signal ends has the exit code 128 plus the number of the signal', async () => {
    expect((await exec('sh', '-c', 'kill -TERM $$')).code).toBe(143)
  })

  it('that does not exist is named in the error message', async () => {
    const { code, stderr } = await exec('no-such-program')
    expect(code).toBe(127)
    expect(stderr).toContain('no-such-program')
  })

  it('ends with its job', async () => {
    const other = await startJob()
    const ended = berth('exec', other, '--', 'sleep', '600')
    await until(async () => (await berth('sessions', 'ls', other)).stdout.includes('open'), { what: 'it is open' })
    await berth('cancel', other)
    expect((await ended).code).not.toBe(0)
  })

  it('is refused if the pool forbids sessions, for another run, or if the job does not run', async () => {
    const shut = await startJob('sleep 600', { queue: 'shut' })
    expect(await berth('exec', shut, '--', 'true')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('The pool shut permits no sessions'),
    })
    expect((await berth('exec', job, '--run', '2', '--', 'true')).stderr).toContain('Run 2 is over; run 1 is running')
    await berth('cancel', shut)
    await berth('wait', shut)
    expect((await berth('exec', shut, '--', 'true')).stderr).toContain('not RUNNING')
  })
})

describe('a command with a terminal', () => {
  it('has the size of the terminal, and Ctrl-C ends it and not the job', async () => {
    const words = [
      'exec',
      job,
      '--',
      'sh',
      '-c',
      '\'stty size; trap "stty size" WINCH; echo ready; while :; do sleep 0.1; done\'',
    ]
    const shell = commandLine.startOnTerminal(words)
    await shell.find(/30 100\r\n/)
    await shell.find(/ready/)
    shell.child.stdin?.write('\x03')
    expect((await shell.ended).code).toBe(130)
    expect((await exec('echo', 'alive')).stdout).toBe('alive\n')
  })

  it('gets the new size when the terminal is resized', async () => {
    const input = {
      jobId: job,
      command: ['sh', '-c', 'trap "stty size" WINCH; stty size; while :; do sleep 0.05; done'],
    }
    const { openSession } = await api.ask<{ openSession: { url: string } }>(
      'mutation ($input: OpenSessionInput!) { openSession(input: $input) { ... on OpenSessionSuccess { url } } }',
      { input: { ...input, size: { columns: 80, rows: 24 } } },
    )
    let out = ''
    const take = (_kind: number, payload: Uint8Array) => {
      out += Buffer.from(payload).toString()
    }
    const line = new ClientLine({ url: `${server.url.replace('http', 'ws')}${openSession.url}`, take })
    await until(() => out.includes('24 80\r\n'), { what: 'the first size' })
    void line.sendJson(kinds.resize, { columns: 50, rows: 20 })
    await until(() => out.includes('20 50\r\n'), { what: 'the second size' })
    line.close()
  })

  it('has no terminal with --no-tty', async () => {
    const { ended } = commandLine.startOnTerminal(['exec', job, '--no-tty', '--', 'tty'])
    expect((await ended).stdout).toContain('not a tty')
  })
})

describe('sessions', () => {
  it('are listed, ended and audited', async () => {
    const ended = berth('exec', job, '--', 'sleep', '600')
    const list = async () => (await berth('sessions', 'ls', job)).stdout
    await until(async () => /open/.test(await list()), { what: 'it is open' })
    const [, id = ''] = /(session_\w{26}) .*open.*sleep 600/.exec(await list()) ?? []
    expect((await berth('sessions', 'end', id)).code).toBe(0)
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('The session or its run was ended') })
    await until(async () => !/open/.test(await list()), { what: 'it is over' })
    const audited = async () => (await berth('audit', '--object', id)).stdout
    await until(async () => /session\.close/.test(await audited()), { what: 'the end is audited' })
    expect(await audited()).toMatch(/session\.open/)
    expect(await audited()).toMatch(/session\.end/)
  })
})

describe('berth forward', () => {
  it('connects to a port on which the job listens, with half-closed connections', async () => {
    const port = await freePort()
    const script = `require('net').createServer({allowHalfOpen:true},s=>{let n=0;s.on('data',d=>n+=d.length).on('end',()=>s.end('got '+n))}).listen(${port},'127.0.0.1')`
    const other = await startJob(`exec ${process.execPath} -e "${script}"`)
    const run = () => commandLine.run(['forward', other, String(port), '--stdio'], { input: 'x'.repeat(100_000) })
    await until(async () => (await run()).stdout === 'got 100000', { what: 'the job listens' })
    await berth('cancel', other)
  })

  it('leads a local port to the job, and keeps a connection of which one half is closed', async () => {
    const port = await freePort()
    const script = `require('net').createServer({allowHalfOpen:true},s=>{let n=0;s.end('hi');s.on('data',d=>n+=d.length).on('end',()=>console.log('got '+n))}).listen(${port},'127.0.0.1',()=>console.log('ready'))`
    const other = await startJob(`exec ${process.execPath} -e "${script}"`)
    await until(async () => (await berth('logs', other)).stdout === 'ready\n', { what: 'the job listens' })
    const forward = commandLine.start(['forward', other, `0:${port}`])
    const [, local = ''] = await forward.find(/127\.0\.0\.1:(\d+) leads to/)
    const converse = async () => {
      const socket = connect({ port: Number(local), host: '127.0.0.1', allowHalfOpen: true })
      const greeting = await new Promise<string>((resolve) => {
        let text = ''
        socket.on('data', (data) => (text += data)).on('end', () => resolve(text))
      })
      socket.end(Buffer.alloc(400_000))
      return greeting
    }
    expect(await Promise.all([converse(), converse(), converse()])).toEqual(['hi', 'hi', 'hi'])
    const got = 'ready\ngot 400000\ngot 400000\ngot 400000\n'
    await until(async () => (await berth('logs', other)).stdout === got, { what: 'the job has all' })
    forward.child.kill('SIGINT')
    expect((await forward.ended).code).toBe(0)
    await berth('cancel', other)
  })

  it('refuses a port of the machine on which the job does not listen', async () => {
    const mine = createServer().listen(0, '127.0.0.1')
    await until(() => mine.address(), { what: 'listening' })
    const { port } = mine.address() as { port: number }
    expect(await berth('forward', job, String(port), '--stdio')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`No process of the job listens on port ${port}`),
    })
    mine.close()
  })
})
