import { statfs } from 'node:fs/promises'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { createLoop, type Loop } from './loop.ts'

/**
 * Looks whether a disk is full. The log tells it once when it fills up and once when it has room again; /readyz tells it
 * as long as it lasts. Nothing waits for it: what cannot be written fails by itself, and is tried again.
 */
export interface DiskWatch {
  /** A sentence; the log names the path, which is not for everybody. null: it has room. */
  full(): Promise<string | null>
  loop: Loop
}

export interface DiskWatchOptions {
  path: string
  /** What is kept there. */
  holds: string
  clock: Clock
  log: Log
}

const pollMs = 5_000
/** A disk with less is full: what is written at once may be as much. */
const roomBytesMin = 1024 * 1024

export function createDiskWatch({ path, holds, clock, log }: DiskWatchOptions): DiskWatch {
  let isFull = false

  async function look() {
    const { bavail, bsize } = await statfs(path)
    const wasFull = isFull
    isFull = bavail * bsize < roomBytesMin
    if (isFull && !wasFull)
      log.error({ path }, `the disk of ${holds} is full: make room there, and what waits goes on by itself`)
    if (!isFull && wasFull) log.warn({ path }, `the disk of ${holds} has room again`)
  }

  return {
    async full() {
      await look()
      return isFull ? `the disk of ${holds} is full` : null
    },
    loop: createLoop({ name: 'disk', pollMs, runOnce: look, clock, log }),
  }
}
