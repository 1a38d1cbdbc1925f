import { statfs } from 'node:fs/promises'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { createLoop } from './loop.ts'

/**
 * Reports a full disk or a missing directory in /readyz, and in the log when the problem begins and ends. The writers
 * retry failed writes themselves.
 */

export type DiskWatch = ReturnType<typeof createDiskWatch>

type DiskWatchOptions = { path: string; holds: string; clock: Clock; log: Log }
type Problem = 'FULL' | 'MISSING'

const pollMs = 5_000
/** The largest single write. */
const roomBytesMin = 1024 * 1024

/** `holds` describes, for messages, the data that is stored at `path`. */
export function createDiskWatch({ path, holds, clock, log }: DiskWatchOptions) {
  const begins: Record<Problem, string> = {
    FULL: `the disk of ${holds} is full`,
    MISSING: `the directory of ${holds} is missing`,
  }
  const remedies: Record<Problem, string> = {
    FULL: 'free space there; waiting output is then written by itself',
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
    /** Leaves the path out of the message, because not every reader may know it. The log has the path. */
    async findProblem(): Promise<string | null> {
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
