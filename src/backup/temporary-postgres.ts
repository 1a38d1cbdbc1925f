import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from '../platform/connection.ts'
import { getDataDirMode } from '../platform/postgres/place.ts'
import { startPostgres } from '../platform/postgres/postgres.ts'
import type { Task } from './database.ts'

/**
 * Runs an embedded PostgreSQL in a temporary folder. A shell in its own session waits until this process ends, then
 * stops the server and removes the folder, so kill -9 of this process leaves no server and no files.
 */
export async function withTemporaryPostgres<T>(
  { log, clock }: Pick<Task, 'log' | 'clock'>,
  work: (address: Address) => Promise<T>,
): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'berth-verify-')))
  const cleaner = startCleaner(folder)
  try {
    await chmod(folder, getDataDirMode())
    const postgres = await startPostgres({ dataDir: folder, log, clock, mayMove: false })
    try {
      return await work(postgres)
    } finally {
      await postgres.stop()
    }
  } finally {
    const ended = once(cleaner, 'exit')
    cleaner.stdin?.end()
    await ended
  }
}

/** `cat` ends when this process ends, which closes the pipe. A killed initdb may still write for a moment. */
const script = `cat
tries=0
while [ -e "$1" ] && [ $tries -lt 300 ]; do
  tries=$((tries + 1))
  pid=$(head -n 1 "$1/postgres/cluster/data/postmaster.pid" 2> /dev/null)
  if [ -n "$pid" ] && kill -QUIT "$pid" 2> /dev/null; then sleep 0.1; else rm -rf "$1" || sleep 0.1; fi
done`

function startCleaner(folder: string): ChildProcess {
  return spawn('/bin/sh', ['-c', script, 'berth-verify', folder], {
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
}
