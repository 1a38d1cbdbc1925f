import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Containers } from '../../../src/executors/container/containers.ts'
import type { Engine } from '../../../src/executors/container/engine.ts'
import { connectToContainer, type ExecParts, execInContainer } from '../../../src/executors/container/exec.ts'
import { SessionRefused } from '../../../src/executors/executor.ts'
import { createFakeClock } from '../../support/clock.ts'

/** Sessions in containers, against a fake engine. An unhandled rejection or error fails the test. */
function partsOf(engine: object, find: () => Promise<object>): ExecParts {
  const containers = { find } as unknown as Containers
  return { engine: { isRemote: false, ...engine } as unknown as Engine, containers, clock: createFakeClock() }
}
const running = {
  Config: { Labels: null },
  State: { Status: 'running' },
  NetworkSettings: { Networks: { a: { IPAddress: '127.0.0.1' } } },
}

describe('a connection to a container', () => {
  it('is refused if it breaks before the container is checked again', async () => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const accepted = once(server, 'connection')
    let looks = 0
    const parts = partsOf({}, async () => {
      looks += 1
      if (looks === 2) {
        const [socket] = (await accepted) as [Socket]
        socket.resetAndDestroy()
        // When a round trip over the same interface is complete, the reset has arrived here, too.
        await once(connect(port, '127.0.0.1'), 'connect')
        await new Promise(setImmediate)
      }
      return running
    })
    await expect(connectToContainer('h', port, parts)).rejects.toThrow(SessionRefused)
    server.close()
  })
})

describe('a command in a container', () => {
  it('ends as soon as the engine has started the command that kills it, and its exit code may stay unknown', async () => {
    const asked: string[] = []
    const connection = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
    const parts = partsOf(
      {
        post: async (path: string) => {
          asked.push(path)
          return { Id: 'x' }
        },
        hijack: async () => connection,
        get: async () => Promise.reject(new Error('The engine is unreachable')),
      },
      async () => running,
    )
    const size = { columns: 80, rows: 24 }
    const command = await execInContainer('h', { command: ['sh'], size, unixUser: null }, parts)
    const before = asked.length
    await command.end()
    expect(asked.slice(before)).toEqual(['/containers/h/exec', '/exec/x/start'])
    expect(await command.exitCode).toBeNull()
  })
})
