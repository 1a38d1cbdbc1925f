import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseSshAddress } from '../../../src/config/engine-address.ts'
import { createMachine } from '../../../src/executors/container/machine.ts'
import { MachinesExecutor } from '../../../src/executors/container/machines.ts'
import type { Executor } from '../../../src/executors/executor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { root } from '../../support/sources.ts'
import { until } from '../../support/until.ts'
import { contract, makeCommand, startsAt } from '../contract.ts'
import { clearExecutor, machineParts, makeResources, makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import { addresses, lab, labPath, machines, names } from './machine-lab.ts'

if (lab === undefined)
  process.stderr.write('SKIPPED: several machines; "npm run test:executors" runs them behind ssh\n')

async function open(directory: string): Promise<Executor> {
  const environment = { ...process.env, PATH: labPath }
  const opened = addresses.map(async ([name, address]) => {
    const machine = await createMachine({
      engine: address,
      ssh: parseSshAddress(address),
      tls: undefined,
      isRemote: true,
      owner: `${directory} ${name}`,
      directory: join(directory, 'stops', name),
      environment,
      deadlineSlackSeconds: 0,
      image: 'localhost/bb:1',
      dataRoots: { data: directory },
      ...machineParts,
      log: createLog('silent'),
    })
    return [name, machine] as const
  })
  const executor = new MachinesExecutor({
    machines: new Map(await Promise.all(opened)),
    clock: systemClock,
    log: createLog('warn'),
  })
  await until(async () => (await executor.silent(names)).length === 0, { what: 'all machines answer' })
  return executor
}

async function clear(directory: string): Promise<void> {
  const executor = await open(directory)
  await clearExecutor(executor)
  await rm(directory, { recursive: true })
}

const small = makeResources({ memoryBytes: 64 * 2 ** 20 })
let placed = 0
/** Uses the machines in rotation. */
const nextNode = () => [names[placed++ % names.length] ?? '']

describe.skipIf(lab === undefined)('with several machines,', () => {
  it.each(addresses)('berth node check describes the machine %s', (name, address) => {
    const environment = { ...process.env, PATH: labPath }
    const check = [join(root, 'src/cli/main.ts'), 'node', 'check', '--image', 'localhost/bb:1', address]
    const answer = execFileSync(process.execPath, check, { env: environment, encoding: 'utf8' })
    expect(answer).toMatch(
      /^(Docker|Podman) [\d.]+\S* answers\.\n\n {2}cores {3}\d+\n {2}memory {2}\d.*\n {2}disk {4}\d+ % free\n/,
    )
    expect(answer).toContain(`engine: "${address}", cpu: `)
    const gpus = 'gpus: [{ model: "NVIDIA A100", memoryGib: 40, tensorCores: true, cuda: ["1.0","12.4"], count: 2 }]'
    expect(answer.includes(gpus)).toBe(name === 'b')
  })

  const [, address = ''] = addresses[0] ?? []
  const elsewhere = address.replace('root@', 'nobody@')
  it.each([
    ['changed its host key', address, 'UserKnownHostsFile', 'has changed; if that is right, run "ssh-keygen -R'],
    ['has an unknown host key', address, 'UserKnownHostsFile=/dev/null', 'is not known; run "ssh root@'],
    [
      'knows no key of the server',
      address,
      'PubkeyAuthentication=no',
      'accepts no key of the server; run "ssh-copy-id',
    ],
    ['keeps its socket from the account', elsewhere, '', 'let nobody use the socket ("usermod -aG docker nobody")'],
    ['has no engine', `${address}.none`, '', 'start the engine there'],
  ])('berth node check names the remedy for a machine that %s', async (_, engine, option, remedy) => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-machines-'))
    const known = readFileSync(join(lab ?? '', 'known_hosts'), 'utf8')
      .trim()
      .split('\n')
    const keys = known.map((line) => line.split(' ').slice(1).join(' '))
    await writeFile(
      join(directory, 'known_hosts'),
      known.map((line, at) => `${line.split(' ')[0]} ${keys[(at + 1) % keys.length]}\n`).join(''),
    )
    const given = option === 'UserKnownHostsFile' ? `${option}=${directory}/known_hosts` : option
    await writeFile(
      join(directory, 'ssh'),
      `#!/bin/sh\nexec /usr/bin/ssh -F none ${given && `-o ${given}`} -i ${lab}/key -o UserKnownHostsFile=${lab}/known_hosts "$@"\n`,
      { mode: 0o755 },
    )
    const command = [join(root, 'src/cli/main.ts'), 'node', 'check', engine]
    const env = { ...process.env, PATH: `${directory}:${labPath}` }
    const { status, stderr } = spawnSync(process.execPath, command, { env, encoding: 'utf8' })
    await rm(directory, { recursive: true })
    expect(status).toBe(1)
    expect(stderr).toContain(remedy)
    expect(stderr).toContain(engine)
  })

  contract('machines', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-machines-'))
    return {
      open: () => open(directory),
      run(behaviour) {
        const run = { ...makeRun({ data: ['data:/marks'], resources: small }), nodes: nextNode() }
        return { ...run, spec: { ...run.spec, command: makeCommand(behaviour, `/marks/${run.runId}`) } }
      },
      starts: ({ runId }) => startsAt(join(directory, runId)),
      remove: () => clear(directory),
    }
  })

  describe('a job', () => {
    let directory: string
    let executor: Executor

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'berth-machines-'))
      executor = await open(directory)
    })
    afterAll(async () => {
      await executor.close()
      await clear(directory)
    })

    type Spec = Parameters<typeof makeRun>[0]
    const start = (node: string, spec: Spec, run: Parameters<typeof makeRun>[1] = {}) =>
      executor.start({ ...makeRun({ resources: small, ...spec }, run), nodes: [node] })
    const sh = (text: string): Spec => ({ command: ['/bin/sh', '-c', text] })

    it.each(names)('on %s finds its closure', async (node) => {
      const handle = await start(node, sh('cat "$BERTH_CLOSURE"'), { closure: '{"step":3}' })
      expect((await read(executor, handle)).out).toBe('{"step":3}')
    })

    it.each(names)('on %s can be reached at its ports, and ports of its machine cannot', async (node) => {
      const listen = 'echo up; while :; do nc -l -p 7070 -e cat; done'
      const handle = await start(node, sh(listen))
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      const connection = await until(() => executor.connect?.(handle, 7070).catch(() => null), { what: 'it listens' })
      const bytes = randomBytes(1_000_000)
      connection.end(bytes)
      expect((await buffer(connection)).equals(bytes)).toBe(true)
      await expect(executor.connect?.(handle, 22)).rejects.toThrow('Port 22 of the container refuses connections')
      await executor.stop(handle, 0)
      await untilEnded(executor, handle)
      await expect(executor.connect?.(handle, 7070)).rejects.toThrow('The container of the run is not running')
    })

    it.each(names)('on %s runs under the account of that name there', async (node) => {
      const handle = await start(node, sh('id -u; id -g'), { unixUser: 'nobody' })
      expect((await read(executor, handle)).out).toBe('65534\n65534\n')
    })

    it.each(names)('on %s is refused for an account that does not exist there', async (node) => {
      await expect(start(node, sh('true'), { unixUser: 'nobody-here' })).rejects.toMatchObject({
        reason: 'BAD_SPEC',
        message: `${node}: The machine has no account nobody-here in its /etc/passwd`,
      })
    })

    it('mounts data only as whole data roots', async () => {
      await mkdir(join(directory, 'sub'))
      await expect(start(names[0] ?? '', { data: ['data/sub:/d'] })).rejects.toMatchObject({
        message: expect.stringContaining('on another machine a job mounts a whole data root'),
      })
    })

    it.each(names)('on %s is interrupted when its machine is restarted', { timeout: 300_000 }, async (name) => {
      const handle = await start(name, sh('echo before; sleep 600'))
      await read(executor, handle, { enough: ({ out }) => out === 'before\n' })
      machines('off', name)
      machines('on', name)
      expect(await untilState(executor, handle, 'gone')).toMatchObject({ info: expect.stringContaining('was stopped') })
      expect((await read(executor, handle)).out).toBe('before\n')
      const again = await start(name, sh('echo up'))
      expect((await read(executor, again)).out).toBe('up\n')
    })

    it('continues while its machine is unreachable, and loses no line', { timeout: 120_000 }, async () => {
      const [name = ''] = names
      const handle = await start(name, sh('i=0; while [ $i -lt 80 ]; do i=$((i+1)); echo $i; sleep 0.2; done'))
      const output = read(executor, handle)
      await untilState(executor, handle, 'running')
      machines('cut', name)
      await until(async () => (await observe(executor, handle)).state === 'unreachable', {
        what: 'the machine is silent',
        timeoutMs: 60_000,
      })
      expect(await executor.silent?.(names)).toEqual([name])
      expect((await executor.describe()).message).toContain(`${name}: Container engine unreachable`)
      machines('mend', name)
      expect((await output).out).toBe(Array.from({ length: 80 }, (_, i) => `${i + 1}\n`).join(''))
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 0 })
    })
  })
})
