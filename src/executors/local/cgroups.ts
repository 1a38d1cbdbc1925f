import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { isMissingFile } from './journal.ts'

/**
 * A cgroup (version 2) for each run, if the server may make some: below its own, so a service or a container that is
 * stopped as a whole takes its jobs with it, and no right is needed beyond a delegated subtree. cgroup-limits.ts sets
 * the limits of runs. A process of another account cannot leave the cgroup, `cgroup.kill` ends all processes at once, and
 * the kernel reports when it is empty. A folder per spool keeps several servers of one machine apart.
 */
export interface Cgroups {
  /** The folder of this spool. */
  readonly base: string
  /** The cgroup of a run; the shim's child enters it before the job begins. */
  create(runId: string): string
  /** Path of a run's cgroup, if it was made here. */
  pathOf(runId: string): string
  /** Ids of the runs that have one. */
  list(): string[]
  /** Removes the folder of this spool if it has no runs; the next run makes it again. */
  close(): void
}

/** null: the server may not make cgroups of version 2, or the kernel is older than 5.14. */
export function openCgroups(spoolDir: string): Cgroups | null {
  const own = ownCgroup()
  if (own === null || /\s/.test(own)) return null
  const base = join(own, nameFolder(spoolDir))
  try {
    accessSync(join(own, 'cgroup.procs'), constants.W_OK)
    mkdirSync(base, { recursive: true })
    accessSync(join(base, 'cgroup.kill'), constants.W_OK)
  } catch {
    return null
  }
  return {
    base,
    pathOf: (runId) => join(base, runId),
    create(runId) {
      mkdirSync(join(base, runId), { recursive: true })
      return join(base, runId)
    },
    list: () => listChildren(base),
    close() {
      if (listChildren(base).length === 0) removeCgroup(base)
    },
  }
}

export const nameFolder = (spoolDir: string) =>
  `berth-${createHash('sha256').update(spoolDir).digest('hex').slice(0, 16)}`

/** The name of a service's own part of its delegated subtree: runs are beside it then, where limits are possible. */
const ownPart = 'berth'

function ownCgroup(): string | null {
  if (process.platform !== 'linux') return null
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1]
  const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  if (mount === undefined || path === undefined) return null
  return join(mount, basename(path) === ownPart ? dirname(path) : path)
}

export const listChildren = (path: string): string[] =>
  ifThere(() => readdirSync(path, { withFileTypes: true }))?.flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  ) ?? []

/** Whether a process is in it or below; zombies do not count. */
export function isPopulated(path: string): boolean {
  return (ifThere(() => readFileSync(join(path, 'cgroup.events'), 'utf8')) ?? '').includes('populated 1')
}

/** KILL to all processes in it and below, at once. Version 1 has no such file, and may not make one. */
export function killCgroup(path: string): void {
  if (existsSync(join(path, 'cgroup.kill'))) ifThere(() => writeFileSync(join(path, 'cgroup.kill'), '1'))
}

/** false: a process in it is still dying. The job may have made cgroups below. */
export function removeCgroup(path: string): boolean {
  try {
    for (const child of listChildren(path)) removeCgroup(join(path, child))
    ifThere(() => rmdirSync(path))
  } catch {
    return false
  }
  return !existsSync(path)
}

/** The cgroups of a run that is over are empty; processes of a killed run may need a moment to die. */
export async function endCgroups(paths: readonly (string | undefined)[], clock: Clock): Promise<void> {
  for (const path of paths) {
    if (path === undefined) continue
    killCgroup(path)
    for (let looks = 0; looks < 50 && !removeCgroup(path); looks++) await clock.sleep(20)
  }
}

/** undefined: the file does not exist any more. */
function ifThere<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (isMissingFile(error) || isNoDevice(error)) return undefined
    throw error
  }
}

/** The error of a cgroup file whose cgroup was removed since it was opened. */
const isNoDevice = (error: unknown) => readErrorCode(error) === 'ENODEV'
