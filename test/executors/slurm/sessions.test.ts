import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { type ExecOrder, type Handle, SessionRefused } from '../../../src/executors/executor.ts'
import { ExitMessageFilter } from '../../../src/executors/slurm/exit-message-filter.ts'
import { untilEnded } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'
import { conf, runSlurmCommand, sh, tasks, useSlurm } from './cluster.ts'

describe.skipIf(conf === undefined)('a session in a job of Slurm', () => {
  const own = useSlurm()
  const begun: Handle[] = []
  const up = async (...given: Parameters<typeof own.up>) => {
    const handle = await own.up(...given)
    begun.push(handle)
    return handle
  }
  afterEach(async () => {
    for (const handle of begun.splice(0)) await own.executor.stop(handle, 0)
  })
  const waits = sh('echo up; exec sleep 600')

  async function exec(handle: Handle, script: string, more: Partial<ExecOrder> = {}) {
    const order = { command: ['/bin/sh', '-c', script], size: null, unixUser: null, ...more }
    const found = await own.executor.exec?.(handle, order)
    if (!found) throw new Error('no exec')
    return found
  }

  async function run(handle: Handle, script: string, input: Buffer | string = '') {
    const process = await exec(handle, script)
    process.stdin.end(input)
    const [out, err] = await Promise.all([text(process.stdout), process.stderr && text(process.stderr)])
    return { out, err, exitCode: await process.exitCode }
  }

  async function connect(handle: Handle, port: number): Promise<Duplex> {
    const found = await own.executor.connect?.(handle, port)
    if (!found) throw new Error('no connect')
    return found
  }

  it('has the account, the environment and the directory of the run, and no variable of the server', async () => {
    const openSnapshot = makeOpener({ 'src/in.txt': { text: 'as it was\n' } })
    const environment = [{ name: 'A.B', value: "it's $HOME" }]
    const handle = await up(
      { ...waits, workdir: 'src', environment },
      { unixUser: 'nobody', injected: { BERTH_TOKEN: 'a token' }, openSnapshot },
    )
    const { out, err, exitCode } = await run(handle, 'id -u; id -g; pwd; cat in.txt; exit 3')
    expect([err, exitCode]).toEqual(['', 3])
    expect(out).toMatch(new RegExp(`^65534\n65534\n/.*/${handle}/snapshot/src\nas it was\n`))
    const variables = await text((await exec(handle, '', { command: ['/usr/bin/env'] })).stdout)
    expect(variables.split('\n')).toEqual(
      expect.arrayContaining(["A.B=it's $HOME", 'BERTH_TOKEN=a token', 'USER=nobody']),
    )
    expect(variables).toMatch(/^SLURM_JOB_ID=\d+$/m)
    const names = variables.match(/^[^=\n]+(?==)/gm) ?? []
    expect(names.filter((name) => /^(_\d+|BERTH_TEST.*|SLURM_EXPORT_ENV|SLURM_TIME_FORMAT)$/.test(name))).toEqual([])
  })

  it('passes output on at once, and runs its command with pipes', async () => {
    const handle = await up(waits)
    const process = await exec(
      handle,
      '[ -t 1 ] || printf pipe; read -r line; printf %s "$line"; printf e >&2; sleep 60',
    )
    expect(String((await once(process.stdout, 'data'))[0])).toBe('pipe')
    process.stdin.write('typed\n')
    expect(String((await once(process.stdout, 'data'))[0])).toBe('typed')
    expect(process.stderr && String((await once(process.stderr, 'data'))[0])).toBe('e')
    await process.end()
    expect((await run(handle, 'grep -ls "[s]leep.60$" /proc/[0-9]*/cmdline | wc -l')).out).toBe('0\n')
  })

  it.each([
    ['exit 5', 5],
    ['kill -TERM $$', 143],
    ['kill -KILL $$', 137],
    ['exec no-such-command', 127],
  ])('that runs %s ends with exit code %s', async (script, exitCode) => {
    const handle = await up(waits)
    expect(await run(handle, script)).toMatchObject({ out: '', exitCode })
  })

  it('gets INT if its user sends INT', async () => {
    const handle = await up(waits)
    const process = await exec(handle, "trap 'echo caught; exit 9' INT; echo up; while :; do sleep 0.1; done")
    await once(process.stdout, 'data')
    void process.signal('INT')
    expect([await text(process.stdout), await process.exitCode]).toEqual(['caught\n', 9])
  })

  it('transfers large amounts in both directions', async () => {
    const handle = await up(waits)
    const bytes = randomBytes(20_000_000)
    const process = await exec(handle, 'cat')
    process.stdin.end(bytes)
    expect((await buffer(process.stdout)).equals(bytes)).toBe(true)
  })

  it('runs although the steps of the job hold all of its resources, and can use its GPUs', async () => {
    const resources = tasks({ nodeCount: 2, gpu: 1 })
    const handle = await up(sh('[ $SLURM_PROCID = 0 ] && echo up; exec sleep 600', { launcher: 'srun', resources }))
    expect(await run(handle, 'hostname; echo $CUDA_VISIBLE_DEVICES')).toMatchObject({ out: 'n1\n0\n', exitCode: 0 })
  })

  it('ends with the run, and is refused afterwards', async () => {
    const handle = await up(waits)
    const process = await exec(handle, "trap '' TERM; echo up; while :; do sleep 1; done")
    await once(process.stdout, 'data')
    await own.executor.stop(handle, 0)
    expect(await process.exitCode).not.toBe(0)
    await untilEnded(own.executor, handle)
    await expect(exec(handle, 'true')).rejects.toThrow(SessionRefused)
    await expect(connect(handle, 80)).rejects.toThrow(SessionRefused)
  })

  it('does not show the environment of the run to other accounts or to Slurm', async () => {
    const injected = { BERTH_TOKEN: 'the-token-of-the-run', API_KEY: 'a-secret-value' }
    const handle = await up(waits, { unixUser: 'nobody', injected })
    const process = await exec(handle, 'echo begun; exec sleep 600')
    await once(process.stdout, 'data')
    const shown = await Promise.all([
      runSlurmCommand('scontrol', 'show', 'job', '--details'),
      runSlurmCommand('scontrol', 'show', 'step'),
      runSlurmCommand('squeue', '--states=all', '--Format=All'),
      runSlurmCommand('ps', '-eo', 'args'),
    ])
    for (const value of Object.values(injected))
      expect(shown.map(({ stdout }) => stdout.includes(value))).not.toContain(true)
    const directory = join(own.directory, 'shared', 'cluster', 'runs', handle)
    expect(await stat(directory)).toMatchObject({ uid: 65534, mode: 0o40700 })
    expect(await stat(join(directory, 'job'))).toMatchObject({ uid: 65534, mode: 0o100600 })
    await process.end()
    await own.executor.stop(handle, 0)
    await untilEnded(own.executor, handle)
    await expect(stat(join(directory, 'job'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('connects to a port on which the job listens, with half-closed and with several concurrent connections', async () => {
    const program = join(own.directory, 'echo.py')
    await writeFile(
      program,
      `import socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
print("up", flush=True)
def serve(one):
    data = b"".join(iter(lambda: one.recv(65536), b""))
    one.sendall(data + b"the end")
    one.close()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],)).start()
`,
    )
    const portFile = join(own.directory, 'port')
    const handle = await up({ command: ['/usr/bin/python3', program, portFile] })
    const port = Number((await run(handle, `cat ${portFile}`)).out)
    const bodies = await Promise.all(
      [0, 1, 5_000_000].map(async (length) => {
        const bytes = randomBytes(length)
        const connection = await connect(handle, port)
        connection.end(bytes)
        return (await buffer(connection)).equals(Buffer.concat([bytes, Buffer.from('the end')]))
      }),
    )
    expect(bodies).toEqual([true, true, true])
    const other = await up(waits)
    await expect(connect(other, port)).rejects.toThrow(`No process of the job listens on port ${port}`)
  })

  it('refuses ports of the node on which the job does not listen', async () => {
    const handle = await up(waits)
    const server = createServer((socket) => socket.end('of the node')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    await expect(connect(handle, port)).rejects.toThrow(`No process of the job listens on port ${port}`)
    await expect(connect(handle, 1)).rejects.toThrow('No process of the job listens on port 1')
    server.close()
  })
})

describe('the messages of a command', () => {
  const filter = async (...pieces: string[]) => {
    const stream = new ExitMessageFilter()
    for (const piece of pieces) stream.write(piece)
    stream.end()
    return text(stream)
  }
  const message = (code: number) => `srun: error: n1: task 0: Exited with exit code ${code}\n`

  it('do not contain the line of srun with the exit code, wherever it appears', async () => {
    expect(await filter('a\n', message(5), 'b')).toBe('a\nb')
    expect(await filter(`a${message(5)}`)).toBe('a')
    expect(await filter('a\nsr', 'un: err', 'or: n1: task 0: Exited with', ' exit code 137\n')).toBe('a\n')
  })

  it('contain other lines that resemble that line', async () => {
    expect(await filter('srun: error: no node', 's\nsrun: error')).toBe('srun: error: no nodes\nsrun: error')
    expect(await filter(message(1), 'a\n', message(2))).toBe(`a\n${message(1)}`)
  })
})
