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
import { unlessCode, unlessMissing } from '../backend/file-errors.ts'
import type { PlannedStop } from './plan.ts'

/**
 * State that outlives the server, shared by all processes over one directory: a file per run, made by `link`, so that
 * one of two starts wins whole, and one append-only list of stops. Nothing is flushed: it has to survive processes, not
 * power cuts. Reading the stops costs one read of the new part.
 *
 * A list that has grown to `stopsBytesMax`, or to twice its size after the last trim, is replaced by a list of the runs
 * that are still stored. A reader that finds another file under the name reads it from its beginning; a writer that
 * finds another file after its append appends once more. A duplicate stop has no effect.
 */
const stopsBytesMax = 1_048_576

export class RunStore {
  readonly #runs: string
  readonly #stopPath: string
  #stopFile: FileHandle
  #trimmedBytes = 0
  readonly #stops = new Map<string, PlannedStop[]>()
  readonly #known = new Set<string>()
  #offset = 0
  #reading: Promise<void> = Promise.resolve()

  private constructor(directory: string, stopFile: FileHandle) {
    this.#runs = runsIn(directory)
    this.#stopPath = stopsIn(directory)
    this.#stopFile = stopFile
  }

  static async open(directory: string): Promise<RunStore> {
    await mkdir(runsIn(directory), { recursive: true, mode: 0o700 })
    const store = new RunStore(directory, await open(stopsIn(directory), 'a+', 0o600))
    await store.#trim()
    return store
  }

  /** Stores the handle unless the run has one; returns the stored handle. */
  async claim(runId: string, handle: string): Promise<string> {
    const path = this.#path(runId)
    const draft = `${path}.${randomUUID()}`
    await writeFile(draft, handle, { mode: 0o600 })
    const linked = link(draft, path).then(() => handle)
    const stored = await unlessCode('EEXIST', linked).finally(() => unlink(draft))
    if (stored === null) return readFile(path, 'utf8')
    this.#known.add(runId)
    return handle
  }

  async has(runId: string): Promise<boolean> {
    return this.#known.has(runId) || (await this.find(runId)) !== null
  }

  /** The stored handle; null: the run is not stored. */
  async find(runId: string): Promise<string | null> {
    const handle = await unlessMissing(readFile(this.#path(runId), 'utf8'))
    if (handle !== null) this.#known.add(runId)
    return handle
  }

  async forget(runId: string): Promise<void> {
    this.#known.delete(runId)
    this.#stops.delete(runId)
    await unlessMissing(unlink(this.#path(runId)))
  }

  /** The handles of all stored runs. */
  async list(): Promise<string[]> {
    const names = (await readdir(this.#runs)).filter((name) => !name.includes('.'))
    const handles = await Promise.all(names.map((name) => unlessMissing(readFile(join(this.#runs, name), 'utf8'))))
    return handles.filter((handle) => handle !== null)
  }

  async addStop(runId: string, { at, graceMs }: PlannedStop): Promise<void> {
    await this.#append(`${runId} ${at} ${graceMs}\n`)
    await this.#trim()
  }

  /** The stops of all runs of this directory, in order. */
  async readStops(): Promise<ReadonlyMap<string, readonly PlannedStop[]>> {
    const next = this.#reading.then(() => this.#readNewStops())
    this.#reading = next.catch(() => undefined)
    await next
    return this.#stops
  }

  async close(): Promise<void> {
    await this.#reading
    await this.#stopFile.close()
  }

  #path(runId: string): string {
    const name = /^[A-Za-z0-9_-]{1,128}$/.test(runId) ? runId : createHash('sha256').update(runId).digest('hex')
    return join(this.#runs, name)
  }

  async #readNewStops(): Promise<void> {
    if (!(await isSame(this.#stopFile, this.#stopPath))) {
      await this.#stopFile.close()
      this.#stopFile = await open(this.#stopPath, 'a+', 0o600)
      this.#offset = 0
      this.#stops.clear()
    }
    for (;;) {
      const { text, bytes } = await readCompleteLines(this.#stopFile, this.#offset)
      if (bytes === 0) return
      this.#offset += bytes
      for (const line of text.trimEnd().split('\n')) {
        const [runId = '', at, graceMs] = line.split(' ')
        const all = this.#stops.get(runId) ?? []
        this.#stops.set(runId, all)
        all.push({ at: Number(at), graceMs: Number(graceMs) })
      }
    }
  }

  async #append(line: string): Promise<void> {
    const file = await open(this.#stopPath, 'a', 0o600)
    try {
      await file.appendFile(line)
      if (!(await isSame(file, this.#stopPath))) await this.#append(line)
    } finally {
      await file.close()
    }
  }

  async #trim(): Promise<void> {
    const { size } = await stat(this.#stopPath)
    if (size < Math.max(stopsBytesMax, 2 * this.#trimmedBytes)) return
    const stored = new Set(await readdir(this.#runs))
    const isStored = (line: string) => stored.has(basename(this.#path(line.split(' ', 1)[0] ?? '')))
    const lines = (await readFile(this.#stopPath, 'utf8')).split('\n').filter(isStored)
    const trimmed = lines.map((line) => `${line}\n`).join('')
    const draft = `${this.#stopPath}.${randomUUID()}`
    await writeFile(draft, trimmed, { mode: 0o600 })
    await rename(draft, this.#stopPath)
    this.#trimmedBytes = Buffer.byteLength(trimmed)
  }
}

const runsIn = (directory: string) => join(directory, 'sim-runs')
const stopsIn = (directory: string) => join(directory, 'sim-stops')

const isSame = async (file: FileHandle, path: string): Promise<boolean> =>
  (await unlessMissing(stat(path)))?.ino === (await file.stat()).ino

const readBytesMax = 65_536

async function readCompleteLines(file: FileHandle, offset: number): Promise<{ text: string; bytes: number }> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(readBytesMax), 0, readBytesMax, offset)
  const bytes = bytesRead === 0 ? 0 : buffer.lastIndexOf(10, bytesRead - 1) + 1
  return { text: buffer.toString('latin1', 0, bytes), bytes }
}
