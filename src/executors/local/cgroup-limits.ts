import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Shape, toMachineAmounts } from '../../domain/shape.ts'
import type { JobSpec } from '../../domain/spec.ts'
import type { Limit } from '../executor.ts'
import { type Cgroups, listChildren, nameFolder, removeCgroup } from './cgroups.ts'

/**
 * Limits of runs on memory, processor time and processes. With cgroup version 2 they are files of the cgroup of the
 * run, if the controller may be used below the server's cgroup: the server may have no processes in the cgroup that
 * passes it on, so a service needs `Delegate=yes` and `DelegateSubgroup=berth`. A controller that is mounted as version
 * 1 has its own tree, in which the run gets a further cgroup. `System.executors` and a warning of the submission name the
 * limits that can be kept in neither way.
 */
export interface Limiting {
  readonly kept: readonly Limit[]
  /** Sets the limits of a run; returns the further cgroups that its process has to enter. */
  impose(run: { runId: string; cgroup: string | null; spec: JobSpec }): string[]
  /** Further cgroups of a run. */
  pathsOf(runId: string): string[]
  /** Runs that have further cgroups. */
  list(): string[]
  close(): void
}

type Amounts = Pick<Shape, 'cpuMillis' | 'memoryBytes'>

export const limitNames: readonly Limit[] = ['memory', 'cpu', 'pids']
/** Maximum processes and threads of one run: stops a fork bomb before the machine does. */
const pidsMax = 32_768
const periodUs = 100_000
const quotaUsMin = 1_000
const quotaUs = ({ cpuMillis }: Amounts) => Math.max(quotaUsMin, Math.ceil((cpuMillis * periodUs) / 1000))

/** Files of a cgroup and their content. The first must exist; the others depend on the kernel. */
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

export const noLimits: Limiting = { kept: [], impose: () => [], pathsOf: () => [], list: () => [], close: () => {} }

export function createCgroupLimiting(spoolDir: string, cgroups: Cgroups | null): Limiting {
  const unified = cgroups === null ? [] : controllersBelow(cgroups.base)
  const trees = limitNames.flatMap((name) => (unified.includes(name) ? [] : (openTree(name, spoolDir) ?? [])))
  const paths = (runId: string) => [...new Set(trees.map(({ base }) => join(base, runId)))]
  return {
    kept: limitNames.filter((name) => unified.includes(name) || trees.some((tree) => tree.name === name)),
    impose({ runId, cgroup, spec }) {
      const amounts = toMachineAmounts(spec.resources)
      if (cgroup !== null) for (const name of unified) write(cgroup, filesV2[name](amounts))
      for (const { name, base } of trees) {
        mkdirSync(join(base, runId), { recursive: true })
        write(join(base, runId), filesV1[name](amounts))
      }
      return paths(runId)
    },
    pathsOf: paths,
    list: () => [...new Set(trees.flatMap(({ base }) => listChildren(base)))],
    close() {
      for (const { base } of trees) if (listChildren(base).length === 0) removeCgroup(base)
    },
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
      if (!(file.startsWith('cpu.cfs') && (error as NodeJS.ErrnoException).code === 'EINVAL')) throw error
    }
  }
}

/** The controllers that runs below `base` may have. Only a cgroup without processes passes one on. */
function controllersBelow(base: string): Limit[] {
  const passesOn = (cgroup: string, name: Limit) => {
    try {
      writeFileSync(join(cgroup, 'cgroup.subtree_control'), `+${name}`)
      return true
    } catch {
      return false
    }
  }
  return limitNames.filter((name) => passesOn(dirname(base), name) && passesOn(base, name))
}

/** The tree of a controller of version 1, below the cgroup of the server. */
function openTree(name: Limit, spoolDir: string): { name: Limit; base: string } | null {
  if (process.platform !== 'linux') return null
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type, options]) => type === 'cgroup' && options?.split(',').includes(name))?.[1]
  const own = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, controllers]) => controllers?.split(',').includes(name))?.[2]
  if (mount === undefined || own === undefined) return null
  const base = join(mount, own, nameFolder(spoolDir))
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
