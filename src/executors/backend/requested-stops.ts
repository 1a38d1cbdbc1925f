import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Handle } from '../executor.ts'
import { nullIfMissing } from './file-errors.ts'

/**
 * Remembers requested stops and sends KILL after each grace period. A stop is stored in a file, so that another server
 * can send the KILL. If the file cannot be written, only this process remembers the stop. If a run is stopped several
 * times, the earliest KILL applies.
 */

interface RequestedStopsOptions {
  directory: string
  /** A clock that all servers of the directory share. */
  nowMs(): number
  kill(handle: Handle, over: AbortSignal): Promise<void>
  /** Called when a KILL is scheduled; the signal aborts when the run is over. */
  onPlanned?(handle: Handle, over: AbortSignal): void
  clock: Clock
  log: Log
  closing: AbortSignal
}

interface Stop {
  dueMs: number
  graceMs: number
}

const retryMs = 1_000
const suffix = '.stop'

export const isStopFile = (name: string) => name.endsWith(suffix)

export class RequestedStops {
  readonly #options: RequestedStopsOptions
  readonly #unwritten = new Map<Handle, Stop>()
  readonly #kills = new Map<Handle, AbortController>()
  #drafts = 0

  constructor(options: RequestedStopsOptions) {
    this.#options = options
  }

  /**
   * Stores the stop and returns the time until KILL. Throws if the stop cannot be stored, but sends the KILL
   * nevertheless.
   */
  async record(handle: Handle, graceMs: number): Promise<number> {
    const fresh = { dueMs: this.#options.nowMs() + graceMs, graceMs }
    const unwritten = this.#unwritten.get(handle)
    const stop = unwritten && this.#left(unwritten) <= graceMs ? unwritten : fresh
    // Remembers the stop before reading the file: an unreadable file must not prevent the stop.
    this.#unwritten.set(handle, stop)
    const written = await this.#readFile(handle)
    if (written && this.#left(written) <= this.#left(stop)) this.#unwritten.delete(handle)
    else await this.#write(handle, stop)
    return (await this.leftMs(handle)) ?? graceMs
  }

  /** Returns the time until KILL is due; null: no stop was requested. */
  async leftMs(handle: Handle): Promise<number | null> {
    const stop = this.#unwritten.get(handle) ?? (await this.#readFile(handle))
    return stop && this.#left(stop)
  }

  async isRequested(handle: Handle): Promise<boolean> {
    return (await this.leftMs(handle)) !== null
  }

  planKill(handle: Handle, leftMs: number): void {
    const { closing, onPlanned } = this.#options
    this.cancelKill(handle)
    const over = new AbortController()
    this.#kills.set(handle, over)
    const signal = AbortSignal.any([over.signal, closing])
    void this.#killLater(handle, leftMs, signal)
    onPlanned?.(handle, signal)
  }

  cancelKill(handle: Handle): void {
    this.#kills.get(handle)?.abort()
    this.#kills.delete(handle)
  }

  async forget(handle: Handle): Promise<void> {
    this.cancelKill(handle)
    this.#unwritten.delete(handle)
    await rm(this.#path(handle), { force: true })
  }

  /** Schedules the KILLs of stops that earlier servers stored. */
  async resume(): Promise<void> {
    for (const name of await readdir(this.#options.directory)) {
      const handle = name.slice(0, -suffix.length)
      if (isStopFile(name)) this.planKill(handle, (await this.leftMs(handle)) ?? 0)
    }
  }

  async #killLater(handle: Handle, leftMs: number, signal: AbortSignal): Promise<void> {
    const { kill, clock, log } = this.#options
    await clock.sleep(leftMs, signal)
    while (!signal.aborted)
      try {
        return await kill(handle, signal)
      } catch (err) {
        if (signal.aborted) return
        log.warn({ err, run: handle }, 'KILL of a run failed; retrying')
        await clock.sleep(retryMs, signal)
      }
  }

  #path(handle: Handle): string {
    return join(this.#options.directory, handle + suffix)
  }

  /** Returns the time until KILL. If the clock was set back, it is at most the grace period. */
  #left({ dueMs, graceMs }: Stop): number {
    return Math.min(graceMs, Math.max(0, dueMs - this.#options.nowMs()))
  }

  async #readFile(handle: Handle): Promise<Stop | null> {
    const text = await nullIfMissing(readFile(this.#path(handle), 'utf8'))
    return text === null ? null : JSON.parse(text)
  }

  async #write(handle: Handle, stop: Stop): Promise<void> {
    const draft = join(this.#options.directory, `${handle}.${process.pid}.${this.#drafts++}`)
    await writeFile(draft, JSON.stringify(stop), { mode: 0o600 })
    await rename(draft, this.#path(handle))
    this.#unwritten.delete(handle)
  }
}
