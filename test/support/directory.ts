import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/**
 * A new directory of a test file, which is removed after the last test of the file. Not for directories that must be gone
 * earlier, or that other accounts enter.
 */
export function makeDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-'))
  made.push(path)
  return path
}

/** Removes them. A directory in which a process still writes is removed at the end of the whole run (`postgres.ts`). */
export async function removeDirectories(): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => undefined)
  await Promise.all(made.splice(0).map(remove))
}
