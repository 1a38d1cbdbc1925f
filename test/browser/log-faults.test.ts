import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { LogLines } from '../../web/features/log/log-lines.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { submit } from './support/console.ts'

/** Prints lines of both streams, some in parts, with 100 pauses. */
const print = (pauseSeconds: number) => `i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo "line $i"
  if [ $((i % 40)) -eq 0 ]; then printf "part "; echo "error $i" >&2; sleep ${pauseSeconds}; echo "of $i"; fi; done`

describe('the log of a running job', () => {
  const directory = makeDirectory()
  let server: BerthProcess
  let proxy: CuttingProxy
  let client: Client
  const port = freePort()
  const start = async () =>
    startBerthProcess({ dataDir: directory, port: await port, env: { BERTH_DATA_DIR: join(directory, 'data') } })
  beforeAll(async () => {
    server = await start()
    proxy = await startProxy(server.url)
    client = createClient({ url: proxy.url })
  })
  afterAll(async () => {
    client?.close()
    await proxy?.close()
    await server?.end()
  })

  function follow(jobId: string): LogLines {
    const lines = new LogLines({ client, jobId, run: 1, lineCount: 0, nowMs: Date.now, schedule: setImmediate })
    lines.start()
    return lines
  }
  const awaitLines = (lines: LogLines, count: number) =>
    until(() => lines.state().lineCount >= count, { what: `line ${count} is there` })

  /**
   * Compares the lines of the page with the stored bytes, separately for each stream, because a line that is printed in
   * two parts may have bytes of the other stream between them.
   */
  async function compare(lines: LogLines, jobId: string): Promise<void> {
    await until(() => lines.state().isFinal, { what: 'the log ends' })
    const { lineCount } = lines.state()
    const texts = await lines.readTexts(1, lineCount)
    const shown = texts.map((text, i) => ({ stream: lines.line(i + 1)?.stream, text }))
    lines.stop()
    const sizes = await Promise.all(
      (['STDOUT', 'STDERR'] as const).map(async (stream) => {
        const stored = await fetchStored(jobId, stream)
        const printed = shown.filter((line) => line.stream === stream).map(({ text }) => `${text}\n`)
        expect(hash(printed.join(''))).toBe(hash(stored))
        return stored.length
      }),
    )
    expect(lineCount).toBe(4_000 + 100 + 100)
    expect(lines.state()).toMatchObject({ gaps: [], bytes: (sizes[0] ?? 0) + (sizes[1] ?? 0) })
  }
  const hash = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
  async function fetchStored(jobId: string, stream: string): Promise<Buffer> {
    const response = await fetch(`${server.url}/download/jobs/${jobId}/log?run=1&streams=${stream}`)
    expect(response.status).toBe(200)
    return Buffer.from(await response.arrayBuffer())
  }

  it('is shown with every stored byte once after lost connections and kill -9 of the server', async () => {
    const jobId = await submit(server, 'followed', print(0.1))
    const lines = follow(jobId)
    for (const count of [300, 600]) {
      await awaitLines(lines, count)
      proxy.cut()
    }
    await awaitLines(lines, 900)
    await server.end('SIGKILL')
    server = await start()
    await awaitLines(lines, 2_000)
    proxy.cut()
    await compare(lines, jobId)
  })

  it('is read by polling if a proxy blocks streams', async () => {
    for (const kind of ['websocket', 'sse'] as const) proxy.blocked.add(kind)
    const jobId = await submit(server, 'polled', print(0.03))
    await compare(follow(jobId), jobId)
  })
})
