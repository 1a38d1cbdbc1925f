import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes a directory for the present test, which is removed after the test and its hooks. */
export async function makeDirectory(name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `berth-${name}-`))
  onTestFinished(() => removeSpool(directory))
  return directory
}

/** Removes a directory with a spool: the watchdog of a server that was closed right after its start may still write its pid there. */
export const removeSpool = (directory: string): Promise<void> =>
  rm(directory, { recursive: true, force: true, maxRetries: 5 })
