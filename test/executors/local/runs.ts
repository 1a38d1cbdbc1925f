import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { createLocalExecutor, type LocalOptions } from '../../../src/executors/local/local.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'
import { removeSpool } from '../runs.ts'

/** The executor `local` with the environment of the tests. */
export const openLocal = (spoolDir: string, more: Partial<LocalOptions> = {}): Promise<Executor> =>
  createLocalExecutor({
    spoolDir,
    environment: process.env,
    clock: systemClock,
    time: machineTime,
    log: createLog('warn'),
    ...more,
  })

export interface Local {
  spoolDir: string
  executor: Executor
  /** With other options, over the same spool. */
  reopen(more: Partial<LocalOptions>): Promise<void>
}

/** A new spool and executor for each test of the file. */
export function openLocalPerTest(): Local {
  const local = {
    async reopen(more) {
      await local.executor.close()
      local.executor = await openLocal(local.spoolDir, more)
    },
  } as Local
  beforeEach(async () => {
    local.spoolDir = await mkdtemp(join(tmpdir(), 'berth-local-'))
    local.executor = await openLocal(local.spoolDir)
  })
  afterEach(async () => {
    await local.executor.close()
    await removeSpool(local.spoolDir)
  })
  return local
}
