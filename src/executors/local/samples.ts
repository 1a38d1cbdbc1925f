import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { mapInSlices } from '../../platform/slices.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import type { Sample } from '../executor.ts'
import type { Journal } from './journal.ts'
import { readKernelFile } from './kernel-file.ts'
import { listProcessUse, type ProcessUse, ticksPerSecond } from './processes.ts'

/**
 * Samples the runs of this machine. The cgroups of a run count all of its processes. Values that they lack are summed
 * over the processes of the run's session and group, from a process table that is read once for all runs.
 */

/** The fields of a journal that identify the processes of its run. */
export type SampledJournal = Pick<Journal, 'claim' | 'session' | 'limited'>

const microsPerSecond = 1e6
const nanosPerSecond = 1e9
const pageBytesDefault = 4_096
const isLinux = process.platform === 'linux'

export class Samples {
  readonly #table = new ProcessTable()
  readonly #cgroups = new CgroupReader()

  async sample(journals: readonly (SampledJournal | null)[]): Promise<Sample[]> {
    if (!isLinux) return journals.map(() => ({}))
    const inCgroups = await mapInSlices(journals, (journal) =>
      journal ? this.#cgroups.sample(listCgroups(journal)) : {},
    )
    const isComplete = ({ cpuSeconds, memoryBytes }: Sample) => cpuSeconds !== undefined && memoryBytes !== undefined
    if (inCgroups.every((sample, index) => isComplete(sample) || !journals[index]?.session)) return inCgroups
    const find = await this.#table.read()
    return inCgroups.map((sample, index) => {
      const session = journals[index]?.session
      return session && !isComplete(sample) ? { ...find(session), ...sample } : sample
    })
  }
}

const listCgroups = ({ claim, limited }: SampledJournal): string[] => [claim?.cgroup ?? [], limited].flat()

/** Names of the files of a cgroup; null: its tree does not have the value. */
interface FileNames {
  cpu: 'cpu.stat' | 'cpuacct.usage' | null
  memory: 'memory.current' | 'memory.usage_in_bytes' | null
}

/** Reads cgroups of version 2, and of version 1, in which each controller has its own cgroups. */
export class CgroupReader {
  /** File names by parent directory, because all runs in it have the same files. */
  readonly #names = new Map<string, FileNames>()

  sample(cgroups: readonly string[]): Sample {
    let sample: Sample = {}
    for (const cgroup of cgroups) {
      const names = this.#findNames(cgroup)
      const cpuSeconds = sample.cpuSeconds ?? readCpuSeconds(cgroup, names)
      const memoryBytes = sample.memoryBytes ?? readMemoryBytes(cgroup, names)
      sample = { ...(cpuSeconds !== null && { cpuSeconds }), ...(memoryBytes !== null && { memoryBytes }) }
    }
    return sample
  }

  #findNames(cgroup: string): FileNames {
    const parent = dirname(cgroup)
    const known = this.#names.get(parent)
    if (known) return known
    if (!existsSync(cgroup)) return { cpu: null, memory: null }
    const choose = <Name extends string>(...names: readonly Name[]): Name | null =>
      names.find((name) => existsSync(join(cgroup, name))) ?? null
    // In version 1, cpu.stat does not contain the processor time.
    const names = {
      cpu: choose('cpuacct.usage', 'cpu.stat'),
      memory: choose('memory.current', 'memory.usage_in_bytes'),
    }
    this.#names.set(parent, names)
    return names
  }
}

function readCpuSeconds(cgroup: string, { cpu }: FileNames): number | null {
  const text = cpu && readText(join(cgroup, cpu))
  if (text === null) return null
  const nanos = toNumber(text)
  const micros = findNumber(text, usagePattern)
  return nanos !== null ? nanos / nanosPerSecond : micros !== null ? micros / microsPerSecond : null
}

/** Returns the memory in use without files that the kernel can drop at once. */
function readMemoryBytes(cgroup: string, { memory }: FileNames): number | null {
  const text = memory && readText(join(cgroup, memory))
  const used = text === null ? null : toNumber(text)
  if (used === null) return null
  const stat = readText(join(cgroup, 'memory.stat')) ?? ''
  return Math.max(0, used - (findNumber(stat, inactiveOfTreePattern) ?? findNumber(stat, inactivePattern) ?? 0))
}

const usagePattern = /^usage_usec (\d+)$/m
const inactivePattern = /^inactive_file (\d+)$/m
/** In version 1, this value includes the cgroups below. */
const inactiveOfTreePattern = /^total_inactive_file (\d+)$/m

function findNumber(text: string, pattern: RegExp): number | null {
  const found = pattern.exec(text)
  return found ? Number(found[1]) : null
}

const toNumber = (text: string): number | null => (/^\d+\s*$/.test(text) ? Number(text) : null)

/** Returns null if the file does not exist, or its cgroup was removed. */
function readText(path: string): string | null {
  try {
    return readKernelFile(path)
  } catch (error) {
    if (['ENOENT', 'ENODEV'].includes(String(readErrorCode(error)))) return null
    throw error
  }
}

type Session = NonNullable<Journal['session']>

class ProcessTable {
  #pageBytes: Promise<number> | undefined

  /** Reads the process table. The returned function sums the use of the processes of a session. */
  async read(): Promise<(session: Session) => Sample> {
    this.#pageBytes ??= readPageBytes()
    const pageBytes = await this.#pageBytes
    const all = await listProcessUse()
    const bySession = Map.groupBy(all, ({ session }) => session)
    const byGroup = Map.groupBy(all, ({ group }) => group)
    return ({ pid, born }) => {
      const members = new Set([...(bySession.get(pid) ?? []), ...(byGroup.get(pid) ?? [])])
      const leader = [...members].find((member) => member.pid === pid)
      const isOther = leader !== undefined && leader.born !== born
      return isOther || members.size === 0 ? {} : addProcesses([...members], pageBytes)
    }
  }
}

const addProcesses = (members: readonly ProcessUse[], pageBytes: number): Sample => ({
  cpuSeconds: members.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond,
  memoryBytes: members.reduce((sum, { residentPages }) => sum + residentPages, 0) * pageBytes,
})

async function readPageBytes(): Promise<number> {
  const output = await promisify(execFile)('getconf', ['PAGESIZE']).catch(() => null)
  return toNumber(output?.stdout ?? '') ?? pageBytesDefault
}
