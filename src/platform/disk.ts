import { statfs } from 'node:fs/promises'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { createLoop, type Loop } from './loop.ts'

/**
 * Checks whether a disk is full or its directory is missing. The log reports it once when that begins and once when it is
 * over; /readyz reports it all the time. Nothing waits for it: a write that fails is tried again by its owner.
 */

export interface DiskWatch {
  /** A sentence; null: the directory is there and has room. Only the log names the path, because not every reader may know it. */
  findProblem(): Promise<string | null>
  loop: Loop
}

export interface DiskWatchOptions {
  path: string
  /** The data that is kept there, for the message. */
  holds: string
  clock: Clock
  log: Log
}

type Problem = 'FULL' | 'MISSING'

const pollMs = 5_000
/** A disk with less is full: a single write may be this large. */
const roomBytesMin = 1024 * 1024

export function createDiskWatch({ path, holds, clock, log }: DiskWatchOptions): DiskWatch {
  const begins: Record<Problem, string> = {
    FULL: `the disk of ${holds} is full`,
    MISSING: `the directory of ${holds} is missing`,
  }
  const remedies: Record<Problem, string> = {
    FULL: 'make room there, and what waits goes on by itself',
    MISSING: 'put it back, and what waits goes on by itself',
  }
  const ends: Record<Problem, string> = {
    FULL: `the disk of ${holds} has room again`,
    MISSING: `the directory of ${holds} is back`,
  }
  let problem: Problem | null = null

  async function look() {
    const last = problem
    problem = await problemOf(path)
    if (problem === last) return
    if (last) log.warn({ path }, ends[last])
    if (problem) log.error({ path }, `${begins[problem]}: ${remedies[problem]}`)
  }

  return {
    async findProblem() {
      await look()
      return problem && begins[problem]
    },
    loop: createLoop({ name: 'disk', pollMs, runOnce: look, clock, log }),
  }
}

async function problemOf(path: string): Promise<Problem | null> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize < roomBytesMin ? 'FULL' : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'MISSING'
    throw error
  }
}
