import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/**
 * Creates a directory for a test file, which is removed after the last test of the file. Not for directories that must
 * be removed earlier, or that other accounts enter.
 */
export function makeDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-'))
  made.push(path)
  return path
}

/** Removes the directories. A directory to which a process still writes is removed after all tests (`postgres.ts`). */
export async function removeDirectories(): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => undefined)
  await Promise.all(made.splice(0).map(remove))
}
