import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stop } from './plan.ts'

/**
 * What outlives the server, shared by all processes over one directory: a file per run, made by `link`, so that of two
 * starts one wins whole, and one append-only list of stops. Nothing is flushed: it has to survive processes, not power
 * cuts. Reading the stops costs one read of what is new.
 */
export interface Ledger {
  /** Keeps the handle unless the run has one; answers the one that counts. */
  claim(runId: string, handle: string): Promise<string>
  knows(runId: string): Promise<boolean>
  /** The handle that counts; null: the run has none. */
  find(runId: string): Promise<string | null>
  forget(runId: string): Promise<void>
  addStop(runId: string, stop: Stop): Promise<void>
  /** Of all runs of this directory, in order. */
  readStops(): Promise<ReadonlyMap<string, readonly Stop[]>>
  close(): Promise<void>
}

export async function openLedger(directory: string): Promise<Ledger> {
  const runs = join(directory, 'sim-runs')
  await mkdir(runs, { recursive: true, mode: 0o700 })
  const stopFile = await open(join(directory, 'sim-stops'), 'a+', 0o600)
  const stops = new Map<string, Stop[]>()
  const known = new Set<string>()
  let offset = 0
  let reading: Promise<void> = Promise.resolve()

  const pathOf = (runId: string) => {
    const name = /^[A-Za-z0-9_-]{1,128}$/.test(runId) ? runId : createHash('sha256').update(runId).digest('hex')
    return join(runs, name)
  }

  async function find(runId: string): Promise<string | null> {
    try {
      const handle = await readFile(pathOf(runId), 'utf8')
      known.add(runId)
      return handle
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
  }

  async function readNewStops(): Promise<void> {
    for (;;) {
      const { text, bytes } = await completeLines(stopFile, offset)
      if (bytes === 0) return
      offset += bytes
      for (const line of text.trimEnd().split('\n')) {
        const [runId = '', at, graceMs] = line.split(' ')
        const all = stops.get(runId) ?? []
        stops.set(runId, all)
        all.push({ at: Number(at), graceMs: Number(graceMs) })
      }
    }
  }

  return {
    async claim(runId, handle) {
      const path = pathOf(runId)
      const draft = `${path}.${randomUUID()}`
      await writeFile(draft, handle, { mode: 0o600 })
      try {
        await link(draft, path)
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
        return await readFile(path, 'utf8')
      } finally {
        await unlink(draft)
      }
      known.add(runId)
      return handle
    },
    find,
    knows: async (runId) => known.has(runId) || (await find(runId)) !== null,
    async forget(runId) {
      known.delete(runId)
      stops.delete(runId)
      await unlink(pathOf(runId)).catch((error) => {
        if (codeOf(error) !== 'ENOENT') throw error
      })
    },
    async addStop(runId, { at, graceMs }) {
      await stopFile.appendFile(`${runId} ${at} ${graceMs}\n`)
    },
    async readStops() {
      const next = reading.then(readNewStops)
      reading = next.catch(() => undefined)
      await next
      return stops
    },
    async close() {
      await reading
      await stopFile.close()
    },
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined)

const readBytesMax = 65_536

async function completeLines(file: FileHandle, offset: number): Promise<{ text: string; bytes: number }> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(readBytesMax), 0, readBytesMax, offset)
  const bytes = bytesRead === 0 ? 0 : buffer.lastIndexOf(10, bytesRead - 1) + 1
  return { text: buffer.toString('latin1', 0, bytes), bytes }
}
