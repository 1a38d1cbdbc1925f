import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { mapInSlices } from '../../platform/slices.ts'
import { readErrorCode } from '../backend/file-errors.ts'
import { readKernelFile } from './kernel-file.ts'

/** A process is identified by its pid and its start time since boot. Zombies count as dead. */

export interface ProcessSeen {
  pid: number
  group: number
  session: number
  /** Start time: on Linux in clock ticks since boot, else as `ps` prints it, with underscores instead of spaces. */
  born: string
}

const run = promisify(execFile)
const isLinux = process.platform === 'linux'

/** Returns an id that changes with every boot. */
export async function readBootId(): Promise<string> {
  if (isLinux) return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  const { stdout } = await run('sysctl', ['-n', 'kern.boottime'])
  return stdout.trim().replaceAll(/[^0-9a-zA-Z]+/g, '_')
}

/** Finds the living process with this pid. Reads synchronously, which takes 20 µs. */
export async function findProcess(pid: number): Promise<ProcessSeen | null> {
  if (!isLinux) return (await listByPs(['-p', String(pid)]))[0] ?? null
  const text = readProc(pid, 'stat')
  return text === null ? null : parseStat(text)
}

export const isZombie = (pid: number): boolean => isLinux && /\) Z/.test(readProc(pid, 'stat') ?? '')

/** Reads the whole process table (5 ms for 300 processes). */
export async function listProcesses(): Promise<ProcessSeen[]> {
  if (!isLinux) return listByPs(['-A'])
  return readdirSync('/proc').flatMap((name) => readStat(name, parseStat) ?? [])
}

/** Resources that a process uses, on Linux. */
export interface ProcessUse extends ProcessSeen {
  /** Processor time of the process, and of its children that ended. */
  ticks: number
  residentPages: number
}

export const ticksPerSecond = 100

/** Reads the whole process table every few seconds, so it yields to other work in between. */
export const listProcessUse = async (): Promise<ProcessUse[]> =>
  (await mapInSlices(readdirSync('/proc'), (name) => readStat(name, parseUse))).flatMap((use) => use ?? [])

function readStat<Parsed>(name: string, parse: (text: string) => Parsed | null): Parsed | null {
  const text = /^\d+$/.test(name) ? readProc(Number(name), 'stat') : null
  return text === null ? null : parse(text)
}

/** Whether the process began with this `NAME=value` in its environment, as far as the server may read it. */
export const startedWith = async (pid: number, variable: string): Promise<boolean> =>
  isLinux && `\0${(await readEnvironment(pid)) ?? ''}\0`.includes(`\0${variable}\0`)

/** Maximum number of reads of an empty environment, 2 ms apart. */
const environmentReads = 50

/**
 * Reads the `NAME=value` pairs of a process, separated by NUL; null: it is gone, or the server may not read it. While a
 * process replaces its program (execve), the kernel shows an empty environment.
 */
export async function readEnvironment(pid: number): Promise<string | null> {
  for (let reads = 1; ; reads++) {
    const text = readProc(pid, 'environ')
    if (text !== '' || reads === environmentReads) return text
    await setTimeout(2)
  }
}

/** Returns null if the process ended, or the server may not read the file. */
function readProc(pid: number, file: 'stat' | 'environ'): string | null {
  try {
    return file === 'stat' ? readKernelFile(`/proc/${pid}/stat`) : readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(String(readErrorCode(error)))) return null
    throw error
  }
}

/** Signals a process, or a group by its negative number. Returns false if no process received the signal. */
export function sendSignal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, name)
    return true
  } catch (error) {
    if (readErrorCode(error) === 'ESRCH') return false
    if (readErrorCode(error) === 'EPERM') return name === 0
    throw error
  }
}

function parseStat(text: string): ProcessSeen | null {
  const [state, , group, session, ...rest] = splitStat(text)
  if (!isAlive(state)) return null
  return {
    pid: Number.parseInt(text, 10),
    group: Number(group),
    session: Number(session),
    born: rest[15] ?? '',
  }
}

/** Returns the columns after the command name, which is in parentheses and may contain parentheses itself. */
const splitStat = (text: string): string[] => text.slice(text.lastIndexOf(')') + 2).split(' ')

const isAlive = (state: string | undefined): boolean => state !== undefined && !'ZX'.includes(state)

/** Columns after the command name, from 0: 11 to 14 are times of the process and its children, 21 resident pages. */
export function parseUse(text: string): ProcessUse | null {
  const seen = parseStat(text)
  const columns = splitStat(text)
  const ticks = columns.slice(11, 15).reduce((sum, each) => sum + Number(each), 0)
  return seen && { ...seen, ticks, residentPages: Number(columns[21] ?? 0) }
}

async function listByPs(which: readonly string[]): Promise<ProcessSeen[]> {
  const columns = ['-o', 'pid=,pgid=,stat=,lstart=']
  const { stdout } = await run('ps', [...which, ...columns]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }))
  return stdout.split('\n').flatMap((line) => {
    const [pid, group, state, ...lstart] = line.trim().split(/\s+/)
    if (!pid || state?.startsWith('Z')) return []
    const ids = { pid: Number(pid), group: Number(group), session: Number(group) }
    return { ...ids, born: lstart.join('_') }
  })
}
