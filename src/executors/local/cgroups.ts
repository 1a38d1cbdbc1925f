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
import { type Shape, toMachineAmounts } from '../../domain/shape.ts'
import type { JobSpec } from '../../domain/spec.ts'
import type { Clock } from '../../platform/clock.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import type { Limit } from '../executor.ts'

type Amounts = Pick<Shape, 'cpuMillis' | 'memoryBytes'>

const limits: readonly Limit[] = ['memory', 'cpu', 'pids']
/** Maximum number of processes and threads of a run, so that a fork bomb does not take down the machine. */
const pidsMax = 32_768
const periodUs = 100_000
const quotaUsMin = 1_000
const quotaUs = ({ cpuMillis }: Amounts) => Math.max(quotaUsMin, Math.ceil((cpuMillis * periodUs) / 1000))

/**
 * Files of a cgroup with the content to write. The first file must exist; whether the others do depends on the kernel.
 */
type Files = Readonly<Record<Limit, (amounts: Amounts) => readonly (readonly [string, number | string])[]>>

const filesV2: Files = {
  memory: ({ memoryBytes }) => [
    ['memory.max', memoryBytes],
    ['memory.swap.max', 0],
    ['memory.oom.group', 1],
  ],
  cpu: (amounts) => [['cpu.max', `${quotaUs(amounts)} ${periodUs}`]],
  pids: () => [['pids.max', pidsMax]],
}

const filesV1: Files = {
  memory: ({ memoryBytes }) => [
    ['memory.limit_in_bytes', memoryBytes],
    ['memory.memsw.limit_in_bytes', memoryBytes],
  ],
  // `periodUs` is the default period of the kernel; writing it costs a millisecond.
  cpu: (amounts) => [['cpu.cfs_quota_us', quotaUs(amounts)]],
  pids: () => [['pids.max', pidsMax]],
}

/** For a controller of version 1: the directory of this spool below the cgroup of the server. */
interface Tree {
  name: Limit
  base: string
}

/**
 * Manages the cgroups of runs, in one directory per spool below the server's own cgroup. So a service or container that
 * is stopped as a whole takes its jobs with it. A process of another account cannot leave its cgroup, `cgroup.kill`
 * ends all processes at once, and the kernel reports when a cgroup is empty.
 *
 * With version 2, limits are files in the cgroup of the run. This requires that the server has no processes in the
 * cgroup that passes the controllers on, so a service needs `Delegate=yes` and `DelegateSubgroup=berth`. A controller
 * of version 1 has its own tree, in which the run gets another cgroup.
 */
export class Cgroups {
  /** The directory of this spool in cgroup version 2; null: unavailable, or the kernel is older than 5.14. */
  readonly base: string | null
  readonly unenforced: readonly Limit[]
  readonly #controllers: readonly Limit[]
  readonly #trees: readonly Tree[]
  /** All directories of this spool, one per cgroup tree. */
  readonly #bases: readonly string[]

  /** A null directory disables cgroups. */
  constructor(spoolDir: string | null) {
    const folder = spoolDir && `berth-${createHash('sha256').update(spoolDir).digest('hex').slice(0, 16)}`
    const isAny = folder !== null && process.platform === 'linux'
    this.base = isAny ? openUnified(folder) : null
    this.#controllers = this.base === null ? [] : enableControllers(this.base)
    const others = isAny ? limits.filter((name) => !this.#controllers.includes(name)) : []
    this.#trees = others.flatMap((name) => openTree(name, folder ?? '') ?? [])
    this.#bases = [...new Set([this.base ?? [], this.#trees.map(({ base }) => base)].flat())]
    const kept = [...this.#controllers, ...this.#trees.map(({ name }) => name)]
    this.unenforced = limits.filter((name) => !kept.includes(name))
  }

  /** Creates the cgroups of a run and sets their limits. The process enters them before the job begins. */
  create(runId: string, { resources }: JobSpec): { cgroup: string | null; limited: string[] } {
    const amounts = toMachineAmounts(resources)
    const paths = this.pathsOf(runId)
    for (const path of paths) mkdirSync(path, { recursive: true })
    const cgroup = this.base && join(this.base, runId)
    if (cgroup !== null) for (const name of this.#controllers) write(cgroup, filesV2[name](amounts))
    for (const { name, base } of this.#trees) write(join(base, runId), filesV1[name](amounts))
    return { cgroup, limited: paths.filter((path) => path !== cgroup) }
  }

  pathsOf(runId: string): string[] {
    return this.#bases.map((base) => join(base, runId))
  }

  /** Lists the runs that have cgroups. */
  list(): ReadonlySet<string> {
    return new Set(this.#bases.flatMap(listChildren))
  }

  /** Removes the directories of this spool if they contain no runs. */
  close(): void {
    for (const base of this.#bases) if (listChildren(base).length === 0) removeCgroup(base)
  }
}

function write(directory: string, files: ReturnType<Files[Limit]>): void {
  for (const [at, [file, value]] of files.entries()) {
    const path = join(directory, file)
    if (at > 0 && !existsSync(path)) continue
    try {
      writeFileSync(path, String(value))
    } catch (error) {
      // Version 1 refuses a share above the share of the parent cgroup, which limits the run anyway.
      if (!(file.startsWith('cpu.cfs') && readErrorCode(error) === 'EINVAL')) throw error
    }
  }
}

/** The service's own subgroup in its delegated cgroup. Runs are beside it, where limits are possible. */
const ownSubgroup = 'berth'

function openUnified(folder: string): string | null {
  const mount = readRows('/proc/self/mounts', ' ').find(([, , type]) => type === 'cgroup2')?.[1]
  const path = readRows('/proc/self/cgroup', ':')
    .find(([number]) => number === '0')
    ?.slice(2)
    .join(':')
  if (mount === undefined || path === undefined) return null
  const own = join(mount, basename(path) === ownSubgroup ? dirname(path) : path)
  const base = join(own, folder)
  if (/\s/.test(own)) return null
  try {
    accessSync(join(own, 'cgroup.procs'), constants.W_OK)
    mkdirSync(base, { recursive: true })
    accessSync(join(base, 'cgroup.kill'), constants.W_OK)
    return base
  } catch {
    return null
  }
}

/**
 * Enables the controllers for runs below `base`; returns the limits that are possible. Only a cgroup without processes
 * can pass on controllers.
 */
function enableControllers(base: string): Limit[] {
  const passesOn = (cgroup: string, name: Limit) => {
    try {
      writeFileSync(join(cgroup, 'cgroup.subtree_control'), `+${name}`)
      return true
    } catch {
      return false
    }
  }
  return limits.filter((name) => passesOn(dirname(base), name) && passesOn(base, name))
}

function openTree(name: Limit, folder: string): Tree | null {
  const has = (list: string | undefined) => list?.split(',').includes(name)
  const mounts = readRows('/proc/self/mounts', ' ')
  const mount = mounts.find(([, , type, options]) => type === 'cgroup' && has(options))?.[1]
  const own = readRows('/proc/self/cgroup', ':')
    .find(([, controllers]) => has(controllers))
    ?.slice(2)
    .join(':')
  if (mount === undefined || own === undefined) return null
  const base = join(mount, own, folder)
  if (/\s/.test(base)) return null
  try {
    mkdirSync(base, { recursive: true })
    const [first] = filesV1[name]({ memoryBytes: 0, cpuMillis: 1000 })
    for (const file of ['cgroup.procs', first?.[0] ?? '']) accessSync(join(base, file), constants.W_OK)
    return { name, base }
  } catch {
    return null
  }
}

const readRows = (path: string, separator: string): string[][] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.split(separator))

const listChildren = (path: string): string[] =>
  ifThere(() => readdirSync(path, { withFileTypes: true }))?.flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  ) ?? []

/** true: a process is in the cgroup or below it; zombies do not count. */
export const isPopulated = (path: string): boolean =>
  ifThere(() => readFileSync(join(path, 'cgroup.events'), 'utf8'))?.includes('populated 1') ?? false

/** Kills all processes in the cgroup and below at once. Version 1 lacks this file, and must not create it. */
export function killCgroup(path: string): void {
  if (existsSync(join(path, 'cgroup.kill'))) ifThere(() => writeFileSync(join(path, 'cgroup.kill'), '1'))
}

/** Removes the cgroup and those that the job created below it. false: a process in it is still dying. */
export function removeCgroup(path: string): boolean {
  try {
    for (const child of listChildren(path)) removeCgroup(join(path, child))
    ifThere(() => rmdirSync(path))
  } catch {
    return false
  }
  return !existsSync(path)
}

/** Removes the cgroups of a run that is over. Processes that were killed may need a moment to die. */
export async function endCgroups(paths: Iterable<string>, clock: Clock): Promise<void> {
  for (const path of paths) {
    killCgroup(path)
    for (let looks = 0; looks < 50 && !removeCgroup(path); looks++) await clock.sleep(20)
  }
}

/** Returns undefined if the file or its cgroup no longer exists. */
function ifThere<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT' || readErrorCode(error) === 'ENODEV') return undefined
    throw error
  }
}
