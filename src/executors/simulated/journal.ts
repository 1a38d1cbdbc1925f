import { createHash, randomUUID } from 'node:crypto'
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readErrorCode } from '../backend/file-errors.ts'
import type { PlannedStop } from './plan.ts'

/**
 * State that outlives the server, shared by all processes over one directory: a file per run, made by `link`, so that
 * one of two starts wins whole, and one append-only list of stops. Nothing is flushed: it has to survive processes, not
 * power cuts. Reading the stops costs one read of the new part.
 *
 * A list that has grown to `stopsBytesMax`, or to twice its size after the last trim, is replaced by one of the runs
 * that are still kept. A reader that finds another file under the name reads it from its beginning; a writer that finds
 * one after its append appends once more, and a stop that is there twice is one stop.
 */
interface RunJournal {
  /** Keeps the handle unless the run has one; answers the one that counts. */
  claim(runId: string, handle: string): Promise<string>
  knows(runId: string): Promise<boolean>
  /** The handle that counts; null: the run has none. */
  find(runId: string): Promise<string | null>
  forget(runId: string): Promise<void>
  /** The handles of all runs that are kept. */
  list(): Promise<string[]>
  addStop(runId: string, stop: PlannedStop): Promise<void>
  /** Of all runs of this directory, in order. */
  readStops(): Promise<ReadonlyMap<string, readonly PlannedStop[]>>
  close(): Promise<void>
}

const stopsBytesMax = 1_048_576

export async function openRunJournal(directory: string): Promise<RunJournal> {
  const runs = join(directory, 'sim-runs')
  await mkdir(runs, { recursive: true, mode: 0o700 })
  const stopPath = join(directory, 'sim-stops')
  let stopFile = await open(stopPath, 'a+', 0o600)
  let trimmedBytes = 0
  const stops = new Map<string, PlannedStop[]>()
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
      if (readErrorCode(error) === 'ENOENT') return null
      throw error
    }
  }

  async function readNewStops(): Promise<void> {
    if (!(await isSame(stopFile, stopPath))) {
      await stopFile.close()
      stopFile = await open(stopPath, 'a+', 0o600)
      offset = 0
      stops.clear()
    }
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

  async function append(line: string): Promise<void> {
    const file = await open(stopPath, 'a', 0o600)
    try {
      await file.appendFile(line)
      if (!(await isSame(file, stopPath))) await append(line)
    } finally {
      await file.close()
    }
  }

  async function trim(): Promise<void> {
    const { size } = await stat(stopPath)
    if (size < Math.max(stopsBytesMax, 2 * trimmedBytes)) return
    const kept = new Set(await readdir(runs))
    const text = await readFile(stopPath, 'utf8')
    const lines = text.split('\n').filter((line) => kept.has(basename(pathOf(line.split(' ', 1)[0] ?? ''))))
    const trimmed = lines.map((line) => `${line}\n`).join('')
    const draft = `${stopPath}.${randomUUID()}`
    await writeFile(draft, trimmed, { mode: 0o600 })
    await rename(draft, stopPath)
    trimmedBytes = Buffer.byteLength(trimmed)
  }

  await trim()

  return {
    async claim(runId, handle) {
      const path = pathOf(runId)
      const draft = `${path}.${randomUUID()}`
      await writeFile(draft, handle, { mode: 0o600 })
      try {
        await link(draft, path)
      } catch (error) {
        if (readErrorCode(error) !== 'EEXIST') throw error
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
        if (readErrorCode(error) !== 'ENOENT') throw error
      })
    },
    async list() {
      const names = (await readdir(runs)).filter((name) => !name.includes('.'))
      const handles = await Promise.all(names.map((name) => readFile(join(runs, name), 'utf8').catch(() => null)))
      return handles.filter((handle) => handle !== null)
    },
    async addStop(runId, { at, graceMs }) {
      await append(`${runId} ${at} ${graceMs}\n`)
      await trim()
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

async function isSame(file: FileHandle, path: string): Promise<boolean> {
  const named = await stat(path).catch((error) => {
    if (readErrorCode(error) === 'ENOENT') return null
    throw error
  })
  return named?.ino === (await file.stat()).ino
}

const readBytesMax = 65_536

async function completeLines(file: FileHandle, offset: number): Promise<{ text: string; bytes: number }> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(readBytesMax), 0, readBytesMax, offset)
  const bytes = bytesRead === 0 ? 0 : buffer.lastIndexOf(10, bytesRead - 1) + 1
  return { text: buffer.toString('latin1', 0, bytes), bytes }
}
