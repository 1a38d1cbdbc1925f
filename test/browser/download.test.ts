import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { berth, describeLongConsole, submit } from './support/console.ts'

const mib = 1024 * 1024
const bytes = 1024 * mib
const printing = `seq -f 'step %.0f of a long run: ${'loss and accuracy '.repeat(10)}' 1 100000000 | head -c ${bytes}`
const cuts = 3
/** Maximum growth of the server's memory, whatever the size of the log. */
const growthMax = 160 * mib
const resumeMsMax = 900_000

async function hash(source: NodeJS.ReadableStream): Promise<string> {
  const sha256 = createHash('sha256')
  await pipeline(source, sha256)
  return sha256.digest('hex')
}

/** Reads the resident bytes of a process: now (VmRSS), or the peak since `resetPeak` (VmHWM). */
async function readMemory(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
}
const resetPeak = (pid: number) => writeFile(`/proc/${pid}/clear_refs`, '5')

describeLongConsole('a large download', (subject) => {
  let server: BerthProcess
  let proxy: CuttingProxy
  let context: BrowserContext
  let printed: string
  let id: string
  let url: string

  beforeAll(async () => {
    server = await subject.startProcess('download')
    proxy = await startProxy(server.url)
    context = await subject.openContext()
    id = await submit(server, 'long', printing)
    printed = await hash(spawn('sh', ['-c', printing]).stdout)
    await berth(server, ['wait', id])
    const isStored = async () =>
      JSON.parse(await berth(server, ['api', `{ job(id: "${id}") { logs(from: { lastLines: 1 }) { isFinal } } }`])).job
        .logs.isFinal
    await until(isStored, { what: 'the log is stored', timeoutMs: resumeMsMax })
    await resetPeak(server.pid)
  }, resumeMsMax)
  afterAll(async () => {
    await context?.close()
    await proxy?.close()
    await server?.end()
  })

  /** Checks that the memory of the server grows by at most `growthMax` during `work`. */
  async function withFlatMemory(work: () => Promise<void>): Promise<void> {
    const before = await readMemory(server.pid, 'VmRSS')
    await resetPeak(server.pid)
    await work()
    const growth = (await readMemory(server.pid, 'VmHWM')) - before
    console.info(`${bytes / mib} MiB: memory of the server grew by ${Math.round(growth / mib)} MiB`)
    expect(growth).toBeLessThan(growthMax)
  }

  it(
    'arrives in the browser with every byte',
    () =>
      withFlatMemory(async () => {
        const page = await context.newPage()
        await page.goto(`${proxy.url}/jobs/${id}/log`)
        const begins = page.waitForEvent('download')
        await page.getByRole('button', { name: 'Download' }).click()
        await page.getByRole('menuitem', { name: 'As printed' }).click()
        const download = await begins
        url = download.url()
        expect(download.suggestedFilename()).toBe(`${id}-run-1.log`)
        expect(await hash(createReadStream(await download.path()))).toBe(printed)
        await page.close()
      }),
    resumeMsMax,
  )

  it(
    'can be resumed with curl after each lost connection',
    () =>
      withFlatMemory(async () => {
        const file = join(subject.directory, 'long.log')
        const size = () =>
          stat(file).then(
            (found) => found.size,
            () => 0,
          )
        const resume = () =>
          promisify(execFile)('curl', ['-sS', '-f', '--limit-rate', String(bytes / 4), '-C', '-', '-o', file, url])
        for (let cut = 1; cut <= cuts; cut++) {
          const broken = expect(resume()).rejects.toMatchObject({ code: 18 })
          await until(async () => (await size()) > (bytes * cut) / (cuts + 1), { what: `part ${cut} is there` })
          proxy.cut()
          await broken
        }
        await resume()
        expect(await size()).toBe(bytes)
        expect(await hash(createReadStream(file))).toBe(printed)
      }),
    resumeMsMax,
  )
})
