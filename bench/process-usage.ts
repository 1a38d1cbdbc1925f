import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Processor time and memory of processes, from /proc. */

const ticksPerSecond = 100
const fieldsOf = (pid: number): string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
const msOf = (ticks: readonly (string | undefined)[]) =>
  (ticks.reduce((sum, each) => sum + Number(each), 0) * 1_000) / ticksPerSecond

export const readParentPid = (pid: number): number => Number(fieldsOf(pid)[1])

/** Processor time in ms: of the process itself, and of the descendants for which it has waited. */
export function processorMs(pid: number): { own: number; waited: number } {
  const fields = fieldsOf(pid)
  return { own: msOf(fields.slice(11, 13)), waited: msOf(fields.slice(13, 15)) }
}

/** Processor time of the living children. */
export function childrenMs(pid: number): { own: number; waited: number } {
  const sum = { own: 0, waited: 0 }
  for (const child of pidsNow().filter((each) => unlessGone(() => readParentPid(each)) === pid)) {
    const used = unlessGone(() => processorMs(child))
    sum.own += used?.own ?? 0
    sum.waited += used?.waited ?? 0
  }
  return sum
}

/** Processor time of the process and all its children, living or ended. */
export function familyMs(pid: number): number {
  const { own, waited } = processorMs(pid)
  return own + waited + childrenMs(pid).own
}

export const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1_024

/** Number of open files and sockets of a process. */
export const countOpenFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Fraction of a core that a process uses, measured over this many seconds. */
export async function cpuShare(pid: number, seconds: number): Promise<number> {
  const before = processorMs(pid).own
  await setTimeout(seconds * 1_000)
  return (processorMs(pid).own - before) / 1_000 / seconds
}

const pidsNow = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** undefined: the process has ended. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
