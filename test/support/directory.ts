import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/** A new directory of a test file, which goes with the file. */
export function makeDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'berth-'))
  made.push(path)
  return path
}

/** Where a process of a test still writes, the directory goes with the whole run (`postgres.ts`). */
export async function removeDirectories(): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => undefined)
  await Promise.all(made.splice(0).map(remove))
}
