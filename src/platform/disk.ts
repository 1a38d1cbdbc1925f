import { statfs } from 'node:fs/promises'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { createLoop, type Loop } from './loop.ts'

/**
 * Checks whether a disk is full. The log reports it once when the disk fills up and once when it has room again;
 * /readyz reports it all the time. Nothing waits for it: a write that fails is tried again by its owner.
 */

export interface DiskWatch {
  /** A sentence; null: it has room. Only the log names the path, because not every reader may know it. */
  full(): Promise<string | null>
  loop: Loop
}

export interface DiskWatchOptions {
  path: string
  /** What is kept there, for the message. */
  holds: string
  clock: Clock
  log: Log
}

const pollMs = 5_000
/** A disk with less is full: a single write may be this large. */
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
