import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const ticksPerSecond = 100
const kib = 1024

/** Bytes of memory that a process of this machine has. */
export async function memoryOf(pid: number): Promise<number> {
  const [, size = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(size) * kib
}

/** Number of files and sockets that a process has open. */
export const openFilesOf = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length

/** The fraction of one core that a process uses, measured over so many seconds. */
export async function cpuShare(pid: number, seconds: number): Promise<number> {
  const before = await cpuTicks(pid)
  await pause(seconds * 1_000)
  return ((await cpuTicks(pid)) - before) / ticksPerSecond / seconds
}

async function cpuTicks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  return Number(fields[11]) + Number(fields[12])
}
