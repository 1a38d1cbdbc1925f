import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inSlices } from '../../platform/slices.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import type { Sample } from '../executor.ts'
import type { Journal } from './journal.ts'
import { listProcessUse, type ProcessUse, ticksPerSecond } from './processes.ts'

/**
 * Samples the runs of this machine. The cgroups of a run count all of its processes. What they do not count is added up
 * from the processes of the session and the group of the run; this reads the process table once for all runs.
 */

/** The parts of a journal that identify the processes of its run. */
export type SampledJournal = Pick<Journal, 'claim' | 'session' | 'limited'>

const microsPerSecond = 1e6
const nanosPerSecond = 1e9
const pageBytesDefault = 4_096
const isLinux = process.platform === 'linux'

export class Samples {
  readonly #table = new ProcessTable()

  async sample(journals: readonly (SampledJournal | null)[]): Promise<Sample[]> {
    if (!isLinux) return journals.map(() => ({}))
    const inCgroups = await inSlices(journals, (journal) => (journal ? sampleCgroups(listCgroups(journal)) : {}))
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

/** Reads cgroups of version 2 and of version 1, in which each controller has its own. */
export function sampleCgroups(cgroups: readonly string[]): Sample {
  let sample: Sample = {}
  for (const cgroup of cgroups) {
    const cpuSeconds = sample.cpuSeconds ?? readCpuSeconds(cgroup)
    const memoryBytes = sample.memoryBytes ?? readMemoryBytes(cgroup)
    sample = { ...(cpuSeconds !== null && { cpuSeconds }), ...(memoryBytes !== null && { memoryBytes }) }
  }
  return sample
}

function readCpuSeconds(cgroup: string): number | null {
  const micros = findNumber(readText(join(cgroup, 'cpu.stat')), 'usage_usec')
  if (micros !== null) return micros / microsPerSecond
  const nanos = toNumber(readText(join(cgroup, 'cpuacct.usage')))
  return nanos === null ? null : nanos / nanosPerSecond
}

/** Without files that the kernel can drop at once. */
function readMemoryBytes(cgroup: string): number | null {
  const used =
    toNumber(readText(join(cgroup, 'memory.current'))) ?? toNumber(readText(join(cgroup, 'memory.usage_in_bytes')))
  if (used === null) return null
  const stat = readText(join(cgroup, 'memory.stat'))
  const inactive = findNumber(stat, 'total_inactive_file') ?? findNumber(stat, 'inactive_file') ?? 0
  return Math.max(0, used - inactive)
}

/** The number after a word at the begin of a line. */
function findNumber(text: string | null, word: string): number | null {
  const found = text === null ? null : new RegExp(`^${word} (\\d+)$`, 'm').exec(text)
  return found ? Number(found[1]) : null
}

const toNumber = (text: string | null): number | null => (text !== null && /^\d+\s*$/.test(text) ? Number(text) : null)

/** null: the file does not exist, or its cgroup was removed. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENODEV'].includes(String(readErrorCode(error)))) return null
    throw error
  }
}

type Session = NonNullable<Journal['session']>

class ProcessTable {
  #pageBytes: Promise<number> | undefined

  /** Reads the table; the result adds up the processes of one session. */
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
  return toNumber(output?.stdout ?? null) ?? pageBytesDefault
}
