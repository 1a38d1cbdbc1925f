import { type Conditions, readConditions } from '../../domain/conditions/active-conditions.ts'
import { findTraits, supportsField } from '../../domain/executors.ts'
import { specFields } from '../../domain/input.ts'
import { type MachineReport, readMachine } from '../../domain/machines/machine-report.ts'
import { type ExecutorReport, readExecutors } from '../../domain/machines/pool-report.ts'
import { readNow } from '../../platform/database-time.ts'
import { builder } from './builder.ts'
import { systemGpusMax } from './output-caps.ts'
import { DeviceRef, PoolRef } from './refs.ts'

interface Snapshot {
  at: Date
  machine: MachineReport | null
  /** Read once, by the first field that needs them. */
  readConditions: () => Promise<Conditions>
}

interface ExecutorShape {
  name: string
  pool: string
  led: boolean
  report: ExecutorReport | undefined
}

const ExecutorInfo = builder.objectRef<ExecutorShape>('ExecutorInfo').implement({
  description: 'A backend that executes runs, in one pool.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'One of local, container, slurm, kubernetes, handler, simulated.' }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool whose jobs the executor runs.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    version: t.string({
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

export const System = builder.objectRef<Snapshot>('System').implement({
  description:
    'The machine that runs local jobs, as reported by the leader of its pool, and the GPUs of all pools. With several ' +
    'local pools: the pool of the default queue, otherwise the first by name that has a leader.',
  fields: (t) => ({
    id: t.id({ description: 'Constant key for caches; `node` does not accept it.', resolve: () => 'system' }),
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
      type: [DeviceRef],
      description: 'All GPUs.',
      complexity: { multiplier: 100 },
      resolve: (_all, _args, { domain: { db } }) =>
        db.prisma.device.findMany({ orderBy: [{ nodeId: 'asc' }, { index: 'asc' }], take: systemGpusMax + 1 }),
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
    async resolve(_root, _args, { domain: { db } }) {
      const machine = await readMachine(db.sql)
      return { at: await readNow(db.sql), machine, readConditions: once(() => readConditions(db.sql)) }
    },
  }),
)

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
