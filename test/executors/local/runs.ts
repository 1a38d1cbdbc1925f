import { afterEach, beforeEach } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { createLocalExecutor, type LocalOptions } from '../../../src/executors/local/local.ts'
import { makeDirectory } from '../../support/directory.ts'
import { machineParts } from '../runs.ts'

/** Opens the executor `local` with the environment of the tests. */
export const openLocal = (spoolDir: string, more: Partial<LocalOptions> = {}): Promise<Executor> =>
  createLocalExecutor({
    spoolDir,
    environment: process.env,
    ...machineParts,
    ...more,
  })

export interface Local {
  spoolDir: string
  executor: Executor
  /** Opens an executor with other options over the same spool. */
  reopen(more: Partial<LocalOptions>): Promise<void>
}

/** Opens a new spool and executor for each test of the file. */
export function openLocalPerTest(): Local {
  const local = {
    async reopen(more) {
      await local.executor.close()
      local.executor = await openLocal(local.spoolDir, more)
    },
  } as Local
  beforeEach(async () => {
    local.spoolDir = makeDirectory()
    local.executor = await openLocal(local.spoolDir)
  })
  afterEach(async () => {
    await local.executor.close()
  })
  return local
}
