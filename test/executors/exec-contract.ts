import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { type Executor, type Handle, SessionRefused } from '../../src/executors/executor.ts'
import { until } from '../support/until.ts'
import type { Behaviour } from './contract.ts'
import { observe, untilEnded, untilState } from './runs.ts'

interface Suite {
  executor: Executor
  start(behaviour: Behaviour): Promise<Handle>
}

/** The part of the contract for executors that run commands in a run. */
export function testExec(suite: Suite): void {
  const order = { command: ['/bin/sh', '-c', 'cat; echo err >&2; exit 5'], size: null, unixUser: null }

  it('runs a command beside that of the run, with separate streams', async ({ skip }) => {
    const handle = await suite.start({ endless: true })
    await untilState(suite.executor, handle, 'running')
    if (!suite.executor.exec) return skip()
    const process = await suite.executor.exec(handle, order)
    const bytes = randomBytes(300_000)
    process.stdin.end(bytes)
    const [out, err] = await Promise.all([buffer(process.stdout), process.stderr && buffer(process.stderr)])
    expect([out.equals(bytes), err?.toString(), await process.exitCode]).toEqual([true, 'err\n', 5])
    expect((await observe(suite.executor, handle)).state).toBe('running')
  })

  it('gives a terminal a size, and ends a command without the run', async ({ skip }) => {
    const handle = await suite.start({ endless: true })
    await untilState(suite.executor, handle, 'running')
    if (!suite.executor.exec) return skip()
    const script = 'while :; do stty size; sleep 0.1; done'
    const process = await suite.executor.exec(handle, {
      ...{ command: ['/bin/sh', '-c', script], unixUser: null },
      size: { columns: 100, rows: 30 },
    })
    let out = ''
    process.stdout.on('data', (data) => (out += data))
    await until(() => out.includes('30 100\r\n'), { what: 'the first size' })
    process.resize({ columns: 50, rows: 20 })
    await until(() => out.includes('20 50\r\n'), { what: 'the second size' })
    process.stdin.write('\x03')
    await process.exitCode
    const seconds = `9999${randomInt(1e9)}`
    const sleep = ['/bin/sh', '-c', `echo begun; exec sleep ${seconds}`]
    const other = await suite.executor.exec(handle, { ...order, command: sleep })
    await once(other.stdout, 'readable')
    other.end()
    const alive = ['/bin/sh', '-c', `grep -ls '[s]leep.${seconds}' /proc/[0-9]*/cmdline || echo none`]
    const look = async () => {
      const { stdin, stdout } = (await suite.executor.exec?.(handle, { ...order, command: alive })) ?? {}
      stdin?.end()
      return stdout ? (await buffer(stdout)).toString() : ''
    }
    await until(async () => (await look()).includes('none'), { what: 'the command was killed' })
    expect((await observe(suite.executor, handle)).state).toBe('running')
  })

  it('refuses a run that is over', async ({ skip }) => {
    const handle = await suite.start({})
    await untilEnded(suite.executor, handle)
    if (!suite.executor.exec) return skip()
    await expect(suite.executor.exec(handle, order)).rejects.toThrow(SessionRefused)
  })
}
