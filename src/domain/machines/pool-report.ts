import type { Prisma } from '../../platform/generated/client.ts'
import type { Reads } from '../../platform/models.ts'
import type { Domain } from '../domain.ts'

/** The report that a process with the executors of a pool stores when it starts. */
export interface PoolReport {
  executors: Readonly<Record<string, ExecutorReport>>
  /** true: a job of a user without `unixUser` would run as root, and the pool does not allow that. */
  unixUserRequired: boolean
  reservedUnixUsers: readonly string[]
}

export interface ExecutorReport {
  version: string | null
  available: boolean
  message: string | null
  /** Resources that jobs may request but whose limit the executor does not enforce. */
  unenforced: readonly string[]
  /** Names of the custom attributes `<executor>.NAME` that the executor accepts; undefined: it ignores all attributes. */
  attributes?: readonly string[]
  /** For some attributes that it refuses, the field to use instead. */
  insteadOf?: Readonly<Record<string, string>>
  secondsMax?: Readonly<Record<string, number>>
  /** false: no image for X11 displays is configured. */
  displays?: boolean
  /** Machines with engines of their own, by the names of their nodes. */
  machines?: Readonly<Record<string, EngineReport>>
  /** Problems of this installation for jobs of the executor, as sentences. */
  warnings?: readonly string[]
}

export interface EngineReport {
  /** Name and version for display; null: the engine does not answer. */
  engine: string | null
  latencyMs: number | null
  /** Why the engine does not answer; null: it answers. */
  silence: string | null
  troubles: readonly string[]
}

export async function reportPool({ db }: Pick<Domain, 'db'>, pool: string, report: PoolReport): Promise<void> {
  const { executors, unixUserRequired, reservedUnixUsers } = report
  const data = {
    executorReports: executors as unknown as Prisma.InputJsonObject,
    unixUserRequired,
    reservedUnixUsers: [...reservedUnixUsers],
  }
  await db.serializable((tx) => tx.prisma.pool.updateMany({ where: { name: pool }, data }))
}

/** The report about the engine of a node; null: the node has no engine of its own, or no report exists yet. */
export function findMachine(reports: unknown, node: string): EngineReport | null {
  const all = Object.values((reports ?? {}) as Partial<PoolReport['executors']>)
  return all.find((report) => report?.machines?.[node])?.machines?.[node] ?? null
}

export interface PoolExecutors {
  pool: string
  executors: string[]
  reports: Partial<PoolReport['executors']>
}

const poolsMax = 100

export async function readExecutors({ prisma }: { prisma: Reads }): Promise<PoolExecutors[]> {
  const pools = await prisma.pool.findMany({
    select: { name: true, executors: true, executorReports: true },
    orderBy: { name: 'asc' },
    take: poolsMax,
  })
  return pools.map(({ name: pool, executors, executorReports }) => ({
    pool,
    executors,
    reports: executorReports as PoolExecutors['reports'],
  }))
}
