import { type Conditions, readConditions } from '../../../domain/conditions/active-conditions.ts'
import { findTraits, supportsField } from '../../../domain/executors.ts'
import { specFields } from '../../../domain/input.ts'
import { type MachineReport, readMachine } from '../../../domain/machines/machine-report.ts'
import { type ExecutorReport, readExecutors } from '../../../domain/machines/pool-report.ts'
import { readNow } from '../../../platform/database-time.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { RequestContext } from '../../rows/context.ts'
import { gpusListing } from '../../rows/listings.ts'
import { loadGpus } from '../../rows/loaders.ts'
import { pageCostUpTo } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { ExecutorKind } from '../frame/enums.ts'
import { GpuRef, PoolRef } from '../frame/refs.ts'

interface Snapshot {
  at: Date
  machine: MachineReport | null
  /** Reads the conditions once, for the first field that needs them. */
  readConditions: () => Promise<Conditions>
}

const systemId = 'system'

interface ExecutorShape {
  name: string
  pool: string
  led: boolean
  report: ExecutorReport | undefined
}

const ExecutorInfo = builder.objectRef<ExecutorShape>('ExecutorInfo').implement({
  description: 'A backend that executes runs, in one pool.',
  fields: (t) => ({
    name: t.expose('name', { type: ExecutorKind, description: 'The kind of backend.' }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool whose jobs the executor runs.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    backendVersion: t.string({
      nullable: true,
      description: 'Version of the backend; null: the backend has no version.',
      resolve: ({ report }) => report?.version ?? null,
    }),
    launchers: t.stringList({
      description: 'Launchers that jobs may request.',
      resolve: ({ name }) => [...findTraits(name).launchers],
    }),
    specFields: t.stringList({
      description:
        'Fields of JobSpecInput that the executor supports, as paths such as `image` and `resources.gpu`, for forms. At most 100.',
      resolve: ({ name }) => specFields.filter((field) => supportsField(name, field)),
    }),
    available: t.boolean({
      description: 'Whether the pool has a leader and the leader reaches the backend.',
      resolve: ({ led, report }) => led && (report?.available ?? true),
    }),
    message: t.string({
      nullable: true,
      description:
        'Why the executor is unavailable, or which features do not work on this machine; null: nothing to report.',
      resolve: ({ led, pool, report }) => (led ? (report?.message ?? null) : `Pool ${pool} has no leader`),
    }),
  }),
})

const GpuConnection = declareConnection('Gpu', GpuRef)

export const System = builder.objectRef<Snapshot>('System')

builder.node(System, {
  description:
    'The machine that runs local jobs, as reported by the leader of its pool, and the GPUs of all pools. With several ' +
    'local pools: the pool of the default queue, otherwise the first by name that has a leader.',
  id: { resolve: () => systemId, description: 'Global id, for `node`, always the same.' },
  loadMany: (ids, context) => Promise.all(ids.map((id) => (id === systemId ? readSnapshot(context) : null))),
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Time of the data.' }),
    loadAvg5Min: t.float({
      nullable: true,
      description: 'Five-minute load average; null: the server has no local pool, or the pool has no leader.',
      resolve: ({ machine }) => machine?.load5 ?? null,
    }),
    memoryPercent: t.float({
      nullable: true,
      description: 'Memory in use, in percent; null: the server has no local pool, or the pool has no leader.',
      resolve: ({ machine }) => machine?.memoryPercent ?? null,
    }),
    gpus: t.field({
      type: GpuConnection,
      description: 'The GPUs of all pools, by node.',
      args: t.arg.connectionArgs(),
      complexity: pageCostUpTo('gpus'),
      resolve: async (_all, args, { listSql, load }) =>
        toConnection(
          await readList(listSql, { listing: gpusListing, where: () => 'TRUE', filter: null, args }),
          (ids) => loadGpus(load, ids),
        ),
    }),
    gpuModels: t.stringList({
      description: 'Models of the GPUs of all pools, for forms.',
      resolve: async (_all, _args, { domain: { db } }) => {
        const models = await db.prisma.device.findMany({
          distinct: ['model'],
          select: { model: true },
          orderBy: { model: 'asc' },
        })
        return models.map(({ model }) => model)
      },
    }),
    executors: t.field({
      type: [ExecutorInfo],
      description: 'Executors of all pools.',
      async resolve(_all, _args, { domain, load }) {
        const pools = await readExecutors(domain.db)
        const leaders = await Promise.all(pools.map(({ pool }) => load.leader.load(pool)))
        return pools.flatMap(({ pool, executors, reports }, index) =>
          executors.map((name) => ({ name, pool, led: leaders[index] !== null, report: reports[name] })),
        )
      },
    }),
  }),
})

builder.queryField('system', (t) =>
  t.field({
    type: System,
    description: 'Load of the machine that runs local jobs, and the GPUs of all pools.',
    resolve: (_root, _args, context) => readSnapshot(context),
  }),
)

async function readSnapshot({ domain: { db } }: RequestContext): Promise<Snapshot> {
  const machine = await readMachine(db.sql)
  return { at: await readNow(db.sql), machine, readConditions: once(() => readConditions(db.sql)) }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
