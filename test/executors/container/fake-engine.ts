import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createContainerExecutor } from '../../../src/executors/container/container.ts'
import type { ContainerOptions } from '../../../src/executors/container/start.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'

/**
 * A container engine whose responses a test sets, on a socket in a directory, and an executor over it. Both end with
 * the test.
 */

const socketIn = (directory: string) => join(directory, 'engine.sock')

export async function listenAsEngine(directory: string, answer: RequestListener) {
  const server = createServer((request, response) => {
    response.setHeader('api-version', '1.41')
    answer(request, response)
  })
  server.listen(socketIn(directory))
  await once(server, 'listening')
  async function close() {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  onTestFinished(close)
  return { close }
}

export async function openOverEngine(
  directory: string,
  {
    name = 'stops',
    ...options
  }: Pick<ContainerOptions, 'image' | 'clock' | 'x11Image' | 'registries' | 'registryAuth' | 'reachesServer'> & {
    name?: string
  },
) {
  const executor = await createContainerExecutor({
    engine: `unix://${socketIn(directory)}`,
    directory: join(directory, name),
    environment: {},
    dataRoots: {},
    time: machineTime,
    log: createLog('silent'),
    ...options,
  })
  onTestFinished(() => executor.close())
  return executor
}

/** Responds with facts of an engine and its machine. */
export const answerFacts =
  ({ version = '28.2.2', aheadMs = 0 }: { version?: string; aheadMs?: number } = {}): RequestListener =>
  ({ url = '' }, response) => {
    const now = new Date(Date.now() + aheadMs).toISOString()
    const info = { InitBinary: 'docker-init', NCPU: 32, MemTotal: 270e9, Runtimes: { nvidia: {} }, SystemTime: now }
    response.end(JSON.stringify(url.endsWith('/version') ? { Version: version, Arch: 'amd64' } : info))
  }
