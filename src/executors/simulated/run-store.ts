import { createHash, randomUUID } from 'node:crypto'
import { appendFile, link, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing, nullOnCode } from '../backend/file-errors.ts'
import type { PlannedStop } from './plan.ts'

/**
 * State that outlives the server, shared by all processes of one directory. Each run is a file that is created by
 * `link`, so that one of two simultaneous starts wins. Each stopped run is a file with one line per stop. A power
 * failure may lose this state.
 */
export class RunStore {
  readonly #runs: string
  readonly #stops: string
  readonly #known = new Set<string>()

  constructor(directory: string) {
    this.#runs = join(directory, 'sim-runs')
    this.#stops = join(directory, 'sim-stops')
  }

  async open(): Promise<void> {
    for (const folder of [this.#runs, this.#stops]) await mkdir(folder, { recursive: true, mode: 0o700 })
  }

  /** Stores the handle unless the run has one; returns the stored handle. */
  async claim(runId: string, handle: string): Promise<string> {
    const path = join(this.#runs, nameFile(runId))
    const draft = `${path}.${randomUUID()}`
    await writeFile(draft, handle, { mode: 0o600 })
    const linked = link(draft, path).then(() => handle)
    const stored = await nullOnCode('EEXIST', linked).finally(() => unlink(draft))
    if (stored === null) return readFile(path, 'utf8')
    this.#known.add(runId)
    return handle
  }

  async has(runId: string): Promise<boolean> {
    return this.#known.has(runId) || (await this.find(runId)) !== null
  }

  /** Returns the stored handle; null: the run is not stored. */
  async find(runId: string): Promise<string | null> {
    const handle = await nullIfMissing(readFile(join(this.#runs, nameFile(runId)), 'utf8'))
    if (handle !== null) this.#known.add(runId)
    return handle
  }

  async forget(runId: string): Promise<void> {
    this.#known.delete(runId)
    for (const folder of [this.#runs, this.#stops]) await nullIfMissing(unlink(join(folder, nameFile(runId))))
  }

  async list(): Promise<string[]> {
    const names = (await readdir(this.#runs)).filter((name) => !name.includes('.'))
    const handles = await Promise.all(names.map((name) => nullIfMissing(readFile(join(this.#runs, name), 'utf8'))))
    return handles.filter((handle) => handle !== null)
  }

  async addStop(runId: string, { at, graceMs }: PlannedStop): Promise<void> {
    await appendFile(join(this.#stops, nameFile(runId)), `${at} ${graceMs}\n`, { mode: 0o600 })
  }

  async readStops(runId: string): Promise<PlannedStop[]> {
    const text = await nullIfMissing(readFile(join(this.#stops, nameFile(runId)), 'utf8'))
    // The text after the last line feed is still being written.
    const lines = text?.split('\n').slice(0, -1) ?? []
    return lines.map((line) => {
      const [at, graceMs] = line.split(' ')
      return { at: Number(at), graceMs: Number(graceMs) }
    })
  }

  /** Reads the ids of all stopped runs at once; the returned function looks up a run. */
  async readStopped(): Promise<(runId: string) => boolean> {
    const stopped = new Set(await readdir(this.#stops))
    return (runId) => stopped.has(nameFile(runId))
  }
}

/** Returns the file name for an id, which may be any text. */
const nameFile = (runId: string) =>
  /^[A-Za-z0-9_-]{1,128}$/.test(runId) ? runId : createHash('sha256').update(runId).digest('hex')
