import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Random } from '../../simulate/random.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { withDirectory } from './directory.ts'
import type { Scenario } from './scenario.ts'

/** Two servers over one PostgreSQL, for scenarios with many readers and writers. */

type Context = Parameters<Scenario['run']>[0]

export const sizes = {
  small: { writers: 8, transitions: 2_000, cuts: 12, snapshots: 30 },
  full: { writers: 50, transitions: 100_000, cuts: 200, snapshots: 1_000 },
} as const

/** Longest pause between retries of a client. */
export const retryMsMax = 300
export const progressMs = 15_000
/** Number of characters of a server's log that a red scenario shows. */
const saidMax = 2_000

export interface Servers extends Context {
  random: Random
  databaseUrl: string
  urlOf(): string
  /** Kills one of the servers with KILL, and starts a new one in its place. */
  replaceOne(): Promise<void>
}

export async function withServers(context: Context, work: (servers: Servers) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const postgres = await startPostgres({ dataDir: directory, log: createLog('error'), clock: systemClock })
    const config = join(directory, 'berth.yaml')
    await writeFile(
      config,
      'pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 1, memoryGib: 1 }] }]\n',
    )
    const env = { DATABASE_URL: postgres.url, BERTH_CONFIG: config, BERTH_ROLES: 'api' }
    const start = async () => startBerthProcess({ dataDir: directory, env })
    const random = new Random(context.seed)
    const running: BerthProcess[] = []
    try {
      running.push(await start(), await start())
      const replaceOne = async () => {
        const index = random.between(0, running.length - 1)
        await running[index]?.end('SIGKILL')
        running[index] = await start()
      }
      await work({
        ...context,
        random,
        databaseUrl: postgres.url,
        urlOf: () => random.pick(running)?.url ?? '',
        replaceOne,
      })
    } catch (error) {
      for (const server of running) context.log(`a server said: ${server.output().slice(-saidMax)}`)
      throw error
    } finally {
      await Promise.all(running.map((server) => server.end('SIGKILL')))
      await postgres.stop()
    }
  })
}

/** Numbers of events, by job. */
export type Seqs = Map<string, number[]>

export const addSeqs = (seqs: Seqs, jobId: string, more: readonly { seq: number }[]) =>
  seqs.set(jobId, [...(seqs.get(jobId) ?? []), ...more.map(({ seq }) => seq)])
