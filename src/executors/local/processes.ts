import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * Processes as the system shows them. A pid alone proves nothing: it is used again. A process is meant by its pid and
 * its birth, in the words of the same boot. Zombies count as dead: they run nothing, and who reaps them is not ours.
 */
export interface ProcessSeen {
  pid: number
  group: number
  session: number
  /** Clock ticks since boot on Linux, else the start time as `ps` writes it, spaces as underscores. */
  born: string
}

const run = promisify(execFile)
const isLinux = process.platform === 'linux'

/** Changes with every start of the machine. */
export async function readBootId(): Promise<string> {
  if (isLinux) return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  const { stdout } = await run('sysctl', ['-n', 'kern.boottime'])
  return stdout.trim().replaceAll(/[^0-9a-zA-Z]+/g, '_')
}

/** The living process with this pid. */
export async function seeProcess(pid: number): Promise<ProcessSeen | null> {
  if (!isLinux) return (await listByPs(['-p', String(pid)]))[0] ?? null
  try {
    return parseStat(await readFile(`/proc/${pid}/stat`, 'latin1'))
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Living processes of a group. Reads the whole process table: only for the rare case that a group lost its leader. */
export async function seeGroup(group: number): Promise<ProcessSeen[]> {
  if (!isLinux) return (await listByPs(['-A'])).filter((seen) => seen.group === group)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const seen = await Promise.all(pids.map(seeProcess))
  return seen.filter((each) => each?.group === group).flatMap((each) => each ?? [])
}

/** Signals a process group (0: only asks); false: there is none. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false
    if (codeOf(error) === 'EPERM') return signal === 0
    throw error
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined)
const isGone = (error: unknown) => ['ENOENT', 'ESRCH'].includes(String(codeOf(error)))

/** The name of the command stands in brackets and may hold anything, brackets too. */
function parseStat(text: string): ProcessSeen | null {
  const [state, , group, session, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || 'ZX'.includes(state)) return null
  return { pid: Number.parseInt(text, 10), group: Number(group), session: Number(session), born: rest[15] ?? '' }
}

async function listByPs(which: readonly string[]): Promise<ProcessSeen[]> {
  const columns = ['-o', 'pid=,pgid=,stat=,lstart=']
  const { stdout } = await run('ps', [...which, ...columns]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }))
  return stdout.split('\n').flatMap((line) => {
    const [pid, group, state, ...lstart] = line.trim().split(/\s+/)
    if (!pid || state?.startsWith('Z')) return []
    return { pid: Number(pid), group: Number(group), session: Number(group), born: lstart.join('_') }
  })
}
