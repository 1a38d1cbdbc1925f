import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'
import { useBerth } from './server-and-cli.ts'

/** The command line against a server in a process of its own, with jobs that really run. */
const setup = useBerth()
const { berth } = setup

const submit = async (...args: string[]) => (await berth('submit', ...args)).stdout.trim()

describe('berth submit', () => {
  it('prints the id of the job, which runs in the current directory', async () => {
    const { code, stdout, stderr } = await berth('submit', '--', 'pwd')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^berth: memory: [\d.]+ GiB; --mem sets another amount\n$/),
    })
    expect(await berth('submit', '--mem', '0.5', '--', 'true')).toMatchObject({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^job_\w{26}\n$/)
    expect(await berth('wait', stdout.trim())).toMatchObject({ code: 0 })
    expect((await berth('logs', stdout.trim())).stdout).toBe(`${setup.cli.home}\n`)
  })

  it('--follow prints only the output of the job on stdout, and exits with its exit code', async () => {
    const followed = await berth('submit', '--mem', '1', '--follow', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7')
    expect(followed.code).toBe(7)
    expect(followed.stdout.split('\n').sort()).toEqual(['', 'err', 'out'])
    expect(followed.stderr).toMatch(/^job_\w{26}\n(berth: .* is QUEUED.*\n)?job_\w{26} FAILED/)
  })

  it('--wait exits with 0 if the job succeeds, and with 70 if it fails without an exit code', async () => {
    expect((await berth('submit', '--wait', '--', 'true')).code).toBe(0)
    const lost = await berth('submit', '--wait', '--workdir', '/nowhere/at/all', '--', 'true')
    expect(lost).toMatchObject({ code: 70, stderr: expect.stringContaining('FAILED') })
  })

  it('reads a job file that --print-spec wrote', async () => {
    const { stdout: spec } = await berth('submit', '--print-spec', '--name', 'from-file', '--tag', 't', '--', 'true')
    const file = join(setup.cli.home, 'job.yaml')
    await writeFile(file, spec)
    const { stdout } = await berth('submit', '-f', file, '--name', 'from-flag', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ job: { name: 'from-flag' }, warnings: [] })
  })
})

describe('berth', () => {
  it('ls prints tables, JSON and YAML', async () => {
    const id = await submit('--name', 'looked-at', '--', 'true')
    await berth('wait', id)
    const { stdout } = await berth('ls', '--name', 'looked-*', '--state', 'succeeded')
    expect(stdout).toMatch(/^ID +NAME +STATE +USER +QUEUE +CREATED +RAN\njob_\w+ +looked-at +SUCCEEDED /)
    const json = await berth('ls', '-o', 'json', '--name', 'looked-*')
    expect(JSON.parse(json.stdout)).toMatchObject([{ id, state: 'SUCCEEDED', exitCode: 0 }])
    expect((await berth('ls', '-o', 'yaml', '-n', '1')).stdout).toMatch(/^- id: job_/)
  })

  it('info prints a job, and exits with 5 if the job does not exist', async () => {
    const id = await submit('--', 'echo', 'a b')
    expect((await berth('info', id)).stdout).toMatch(/^command +echo 'a b'$/m)
    const { stdout } = await berth('info', await submit('--set', 'handler=/none.mjs'))
    expect(stdout).toMatch(/^handler +\/none\.mjs$/m)
    expect(stdout).not.toMatch(/^command/m)
    expect(await berth('info', `job_${'0'.repeat(26)}`)).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(/^berth: Job .* not found; "berth ls" lists your jobs\n$/),
    })
  })

  it('logs prints the last lines, the whole output or the events of a job', async () => {
    const id = await submit('--', 'seq', '1', '20000')
    await berth('wait', id)
    expect((await berth('logs', id, '--tail', '2')).stdout).toBe('19999\n20000\n')
    expect((await berth('logs', id)).stdout).toBe(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(''))
    expect((await berth('logs', id, '--events')).stdout).toMatch(
      /^#1 .*QUEUED\n#2 .*STARTING\n(#.*\n)*#\d .*SUCCEEDED\n$/,
    )
  })

  it('logs exits without an error if the reader closes the pipe', async () => {
    const id = await submit('--', 'seq', '1', '200000')
    await berth('wait', id)
    const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) =>
      execFile(
        'sh',
        ['-c', `"${join(root, 'berth')}" logs ${id} | head -n 1`],
        { env: { PATH: process.env['PATH'], BERTH_URL: setup.server.url } },
        (_, stdout, stderr) => resolve({ stdout, stderr }),
      ),
    )
    expect({ stdout, stderr }).toEqual({ stdout: '1\n', stderr: '' })
  })
})

describe('berth', () => {
  it('cancel stops a job, and berth wait exits with 130', async () => {
    const id = await submit('--', 'sleep', '600')
    expect((await berth('cancel', id, '--reason', 'enough')).stdout).toContain(id)
    expect((await berth('wait', id)).code).toBe(130)
  })

  it('submit --follow shows why a job does not start', async () => {
    const later = new Date(Date.now() + 86_400_000).toISOString()
    const args = ['submit', '--mem', '1', '--follow', '--not-before', later, '--', 'true']
    const { written, find, ended } = setup.cli.start(args)
    const [, id = ''] = await find(/(job_\w{26}) is QUEUED: .+\n/)
    expect(written).toEqual({ stdout: '', stderr: expect.stringMatching(`^${id}\nberth: ${id} is QUEUED: .+\n$`) })
    await berth('cancel', id)
    expect((await ended).code).toBe(130)
  })

  it('rm deletes finished jobs, and refuses to delete others', async () => {
    const alive = await submit('--', 'sleep', '600')
    const ended = await submit('--', 'true')
    await berth('wait', ended)
    const { code, stdout, stderr } = await berth('rm', alive, ended)
    expect({ code, stdout }).toEqual({ code: 3, stdout: `${ended}\n` })
    expect(stderr).toContain(alive)
    expect((await berth('info', ended)).code).toBe(5)
    await berth('cancel', alive)
  })

  it('submit --follow stops at Ctrl-C, and reports that the job continues', async () => {
    const args = ['submit', '--follow', '--', 'sh', '-c', 'echo begun; sleep 600']
    const { child, written, ended } = setup.cli.start(args)
    await until(() => written.stdout === 'begun\n', { what: 'the job writes' })
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    const id = written.stderr.match(/job_\w{26}/)?.[0] ?? ''
    expect(written.stderr).toContain(`detached; job ${id} continues`)
    expect((await berth('info', id, '-o', 'json')).stdout).toContain('"state": "RUNNING"')
    expect(await berth('exec', id, '--', 'echo', 'still here')).toMatchObject({ code: 0, stdout: 'still here\n' })
    await berth('cancel', id)
    await berth('wait', id)
    expect((await berth('exec', id)).stderr).toMatch(/^berth: the job is CANCELLED, not RUNNING; "berth info job_\w+" /)
  })
})

describe('berth during a restart of the server', () => {
  it('logs -f loses no byte; afterwards, berth up reports that a server is running', async () => {
    const script = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; [ $((i % 100)) -eq 0 ] && sleep 0.1; done'
    const id = await submit('--', 'sh', '-c', script)
    const follow = setup.cli.start(['logs', '-f', id])
    const lines = () => follow.written.stdout.split('\n').length - 1
    for (const [at, signal] of [
      [500, 'SIGKILL'],
      [1_500, 'SIGTERM'],
    ] as const) {
      await until(() => lines() >= at, { what: `${at} lines were seen` })
      await setup.server.end(signal)
      await setup.start()
    }
    expect((await follow.ended).code).toBe(0)
    expect(follow.written.stdout).toBe(Array.from({ length: 3_000 }, (_, i) => `line ${i + 1}\n`).join(''))
    expect((await berth('up')).stdout).toMatch(/^Berth .* is already running at /)
  })
})
