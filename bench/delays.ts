import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { until } from '../test/support/until.ts'

/** Event-loop delays of a server in ms, measured in its process (event-loop.ts). */
export interface Delays {
  p99: number
  max: number
}

/** Environment variables for the measured server; each server needs its own `file`. */
export const makeDelayEnvironment = (file: string) => ({
  NODE_OPTIONS: `--import ${new URL('./event-loop.ts', import.meta.url).href}`,
  BENCH_DELAYS: file,
})

export async function delaysDuring(pid: number, file: string, work: () => Promise<unknown>): Promise<Delays> {
  await rm(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  await work()
  process.kill(pid, 'SIGUSR2')
  await until(() => existsSync(file), { what: 'the server writes its delays', timeoutMs: 10_000 })
  return JSON.parse(await readFile(file, 'utf8'))
}
