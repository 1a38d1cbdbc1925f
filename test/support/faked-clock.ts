import { execFile } from 'node:child_process'
import { glob, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The wall clock of a process, which a test sets through libfaketime. Its monotonic clock, waits and file times stay
 * correct.
 */
export interface FakedClock {
  /** Environment variables for the process. */
  readonly environment: Readonly<Record<string, string>>
  /** `rate`: its seconds per real second, at least 1, because a slower clock would make waits longer. */
  set(wrong: { offsetSeconds: number; rate: number }): Promise<void>
  /** Removes the shared memory that libfaketime leaves behind when this process is killed. */
  forget(pid: number): Promise<void>
}

const libraries = '/usr/{lib,lib64,local/lib}{,/*}/faketime/libfaketime.so.1'
const probeSeconds = 86_400

/** null: libfaketime is missing, or does not change the time of Node.js. */
export async function createFakedClock(directory: string): Promise<FakedClock | null> {
  const { value: library } = await glob(libraries).next()
  if (library === undefined) return null
  const file = join(directory, 'clock')
  const environment = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
  const clock: FakedClock = {
    environment,
    async set({ offsetSeconds, rate }) {
      const sign = offsetSeconds < 0 ? '-' : '+'
      await writeFile(`${file}.new`, `${sign}${Math.abs(offsetSeconds)} x${rate}\n`)
      await rename(`${file}.new`, file) // The process may read it at any moment.
    },
    async forget(pid) {
      for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
        await rm(join('/dev/shm', name), { force: true })
    },
  }
  await clock.set({ offsetSeconds: probeSeconds, rate: 1 })
  const { stdout } = await run(process.execPath, ['-p', 'Date.now()'], { env: environment })
  return Number(stdout) - Date.now() > (probeSeconds * 1_000) / 2 ? clock : null
}
