import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { berthCommand } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'

const dataDir = makeDirectory()

beforeAll(() => chmod(dataDir, 0o711)) // under root PostgreSQL is another user and must get in

test('a server works although its stdout is closed, and SIGUSR1 does not open a debugger', async () => {
  const port = await freePort()
  const { file, args, options } = await berthCommand({ dataDir, port })
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    child.stdout.destroy()
    let said = ''
    child.stderr.on('data', (text) => (said += text))
    const isReady = async () => {
      if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}:\n${said}`)
      return fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    }
    await until(isReady, { what: 'the server is ready', timeoutMs: 180_000 })
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
      child.kill(signal)
      expect(await isReady()).toBe(true)
    }
    child.kill('SIGTERM')
    await once(child, 'exit')
    expect({ said, code: child.exitCode }).toEqual({ said: '', code: 0 })
  } finally {
    child.kill('SIGTERM')
  }
})
