/**
 * Runs around each test file: removes its directories, and measures the processor time of the worker and of the child
 * processes that have ended.
 */

import { readFileSync } from 'node:fs'
import { beforeAll } from 'vitest'
import { removeDirectories } from './directory.ts'

declare module 'vitest' {
  interface TaskMeta {
    processorSeconds?: number
  }
}

const ticksPerSecond = 100

/** null: not on Linux. */
function readSeconds(): number | null {
  try {
    // Fields after the name, which may contain spaces: utime, stime, and those of ended children.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  } catch {
    return null
  }
}

const before = readSeconds()

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern.
beforeAll(({}, { file }) => async () => {
  await removeDirectories()
  const after = readSeconds()
  if (before !== null && after !== null) file.meta.processorSeconds = after - before
})
