import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { nowMs } from '../reading/times.ts'

/**
 * A lock is a file that its holder creates and removes. If the holder was killed, the next command removes the lock: at
 * once on the same machine, after `heldMsMax` on another machine that shares the folder.
 */
const pollMs = 25
/** Maximum age of a lock, longer than a renewal can take. */
const heldMsMax = 120_000
const waitMsMax = 2 * heldMsMax

export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mark = `${hostname()} ${process.pid} ${crypto.randomUUID()}`
  const begunMs = performance.now()
  while (!create(path, mark)) {
    removeAbandoned(path)
    if (performance.now() - begunMs > waitMsMax)
      throw new Stop(exitCodes.retryable, `another command holds ${path}`, `remove it with "rm ${path}"`)
    await sleep(pollMs)
  }
  try {
    return await work()
  } finally {
    // If this process was suspended for a long time, another command may hold the lock now.
    if (readHolder(path) === mark) rmSync(path, { force: true })
  }
}

function create(path: string, mark: string): boolean {
  try {
    writeFileSync(path, mark, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    throw usageError(`cannot write ${path}: ${code}`, 'make its folder writable')
  }
}

function readHolder(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function removeAbandoned(path: string): void {
  const holder = readHolder(path)
  if (holder === null || !isAbandoned(path, holder)) return
  // Two commands may find the same abandoned lock. The second must not remove the new lock of the first.
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  const taken = readHolder(aside)
  if (taken !== null && taken !== holder) create(path, taken)
  rmSync(aside, { force: true })
}

function isAbandoned(path: string, holder: string): boolean {
  const [host, pid] = holder.split(' ')
  if (host === hostname() && pid && !isAlive(Number(pid))) return true
  try {
    return nowMs() - statSync(path).mtimeMs > heldMsMax
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
