import { seesAll } from '../../../domain/access.ts'
import { type EngineReport, findMachine } from '../../../domain/machines/pool-report.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns } from '../frame/fields.ts'
import { PoolNodeRef } from '../frame/refs.ts'

interface Machine extends Partial<EngineReport> {
  address: string
  silentSince: Date | null
}

const NodeMachine = builder.objectRef<Machine>('NodeMachine').implement({
  description: 'A machine with a container engine of its own.',
  fields: (t) => ({
    ...exposeColumns(t, {
      engine: [
        'String?',
        'Name and version of the engine, such as Docker 28.2.2; null: it does not answer, or was not asked yet.',
      ],
      silentSince: [
        'DateTime?',
        'Time of the last answer of an engine that does not answer; null: it answers, or never answered.',
      ],
    }),
    address: t.string({
      nullable: true,
      description: 'Address of the engine; null: you may not see all jobs.',
      resolve: ({ address }, _args, { viewer }) => (seesAll(viewer) ? address : null),
    }),
    latencySeconds: t.float({
      nullable: true,
      description: 'Time until the engine answers, with one digit; null: it does not answer.',
      resolve: ({ latencyMs }) => (latencyMs == null ? null : latencyMs / 1_000),
    }),
    silence: t.string({
      nullable: true,
      description: 'Why the engine does not answer, with the remedy; null: it answers, or you may not see all jobs.',
      resolve: ({ silence }, _args, { viewer }) => (seesAll(viewer) ? (silence ?? null) : null),
    }),
    troubles: t.stringList({
      description: 'Repairs that the machine needs, as sentences; empty: none, or you may not see all jobs.',
      resolve: ({ troubles = [] }, _args, { viewer }) => (seesAll(viewer) ? [...troubles] : []),
    }),
  }),
})

builder.objectField(PoolNodeRef, 'machine', (t) =>
  t.field({
    type: NodeMachine,
    nullable: true,
    description: 'The machine, if its container engine is asked by itself; null: other nodes.',
    async resolve({ poolName, name, engine, lastSeenAt }, _args, { load }) {
      if (engine === null) return null
      const report = findMachine((await load.pool.load(poolName))?.executorReports, name)
      return { ...report, address: engine, silentSince: report?.silence == null ? null : lastSeenAt }
    },
  }),
)
