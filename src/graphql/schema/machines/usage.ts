import { InvalidInput } from '../../../domain/errors.ts'
import { readUse, type UsageBy, type UsagePoint, usagePointsMax } from '../../../domain/usage/read-use.ts'
import { type SamplePoint, samplePointsMax } from '../../../domain/usage/run-samples.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns } from '../frame/fields.ts'
import { addKeyEdges } from '../frame/key-edges.ts'
import { MoneyRef } from '../frame/money.ts'
import { RunRef } from '../frame/refs.ts'

// ── a run over time ──

const UsageSample = builder.objectRef<SamplePoint>('UsageSample').implement({
  description:
    'Resources that a run used at one moment, or in one interval of a longer run. A field is null if it could not be measured.',
  fields: (t) => ({
    ...exposeColumns(t, {
      at: ['DateTime', 'When it was measured; of an interval: its end.'],
      memoryBytes: ['UInt53?', 'Memory in use without caches that can be dropped, in bytes; of an interval: the most.'],
      gpuPercent: ['Float?', 'Utilization of the GPUs of the run on average, 0 … 100.'],
      gpuMemoryBytes: ['UInt53?', 'Memory in use on all GPUs of the run, in bytes; of an interval: the most.'],
    }),
    cpu: t.exposeFloat('cpuCores', {
      nullable: true,
      description: 'Cores in use, on average since the sample before; null also in the first sample of most executors.',
    }),
  }),
})

const pointsDefault = 240

builder.objectFields(RunRef, (t) => ({
  samples: t.field({
    type: [UsageSample],
    nullable: true,
    description: `Resources that the run used over time, oldest first: every 10 s while it runs, in longer intervals before the last hour and day. Samples are deleted with the log. At most ${samplePointsMax.toLocaleString('en-US')}.`,
    args: {
      points: t.arg.int({
        defaultValue: pointsDefault,
        description: 'Samples at most, 1 … 1,000; if the run has more, each stands for an equal part of the time.',
      }),
    },
    complexity: ({ points }) => ({ field: 20, multiplier: Math.max(1, (points ?? pointsDefault) / 10) }),
    resolve({ id }, { points }, { load }) {
      const wanted = points ?? pointsDefault
      if (wanted < 1 || wanted > samplePointsMax)
        throw InvalidInput.at('points', `Must be 1 … ${samplePointsMax.toLocaleString('en-US')}, not ${wanted}`)
      return load.samplesOfRun(wanted).load(id)
    },
  }),
}))

// ── pools over time ──

const UsageByEnum = builder.enumType('UsageBy', {
  description: 'Key by which `usage` groups its points.',
  values: describeValues({
    POOL: 'The pool; every measured time has a point, also without jobs.',
    ACCOUNT: 'The account that the job is charged to.',
    TEAM: 'The team of the job.',
    USER: 'The user of the job.',
    QUEUE: 'The submission queue of the job.',
  } satisfies Record<UsageBy, string>),
})

const average = (what: string) => ({ description: `${what}, on average over the measured time of the bucket.` })
const sumOf = (what: string) => ({ description: `${what} × seconds, summed over the measured time of the bucket.` })

const UsagePointRef = builder.objectRef<UsagePoint>('UsagePoint')

UsagePointRef.implement({
  description: 'Use of pools by the jobs of one key in one bucket of time.',
  fields: (t) => ({
    ...exposeColumns(t, {
      at: ['DateTime', 'Begin of the bucket.'],
      key: ['String?', 'The key, as a filter of jobs takes it; null: jobs without a team.'],
      started: ['Int', 'Runs that the scheduler started.'],
      finished: ['Int', 'Jobs that reached a final state.'],
      failed: ['Int', 'Jobs that reached FAILED; part of `finished`.'],
      waitP50Seconds: [
        'Float?',
        'Half of the started runs waited at most this long, in seconds, within a factor of 1.2; null: none started.',
      ],
      waitP95Seconds: [
        'Float?',
        '95 of 100 started runs waited at most this long, in seconds, within a factor of 1.2.',
      ],
    }),
    averageRunning: t.exposeFloat('running', average('Jobs that hold resources: STARTING, RUNNING, CANCELLING')),
    averageQueued: t.exposeFloat('queued', average('Jobs that are QUEUED')),
    averageBlocked: t.exposeFloat('blocked', average('Jobs that wait for an approval')),
    averageCpu: t.exposeFloat('cpu', average('Cores that the jobs held')),
    averageGpu: t.exposeFloat('gpu', average('GPUs that the jobs held')),
    averageMemoryBytes: t.expose('memoryBytes', {
      type: 'UInt53',
      ...average('Bytes of memory that the jobs held'),
    }),
    cpuSeconds: t.exposeFloat('cpuSeconds', sumOf('Cores that the jobs held')),
    gpuSeconds: t.exposeFloat('gpuSeconds', sumOf('GPUs that the jobs held')),
    memoryByteSeconds: t.exposeFloat('memoryByteSeconds', sumOf('Bytes of memory that the jobs held')),
    cpuCapacity: t.exposeFloat('cpuCapacity', average('Cores of all nodes, of the pool or of all pools of the answer')),
    gpuCapacity: t.exposeFloat('gpuCapacity', average('GPUs of all nodes, of the pool or of all pools of the answer')),
    memoryCapacityBytes: t.expose('memoryCapacityBytes', {
      type: 'UInt53',
      ...average('Bytes of memory of all nodes, of the pool or of all pools of the answer'),
    }),
    cost: t.field({
      type: MoneyRef,
      nullable: true,
      description:
        'Measured cost of the jobs that reached a final state, by the rates of their pools; null: they cost nothing, or the currencies differ; then ask for one pool.',
      resolve: ({ cost, costPool }) => (costPool === null ? null : { amount: cost, pool: costPool }),
    }),
  }),
})

addKeyEdges(UsagePointRef)

builder.queryField('usage', (t) =>
  t.field({
    type: [UsagePointRef],
    nullable: true,
    description: `Use of pools over time, oldest first, then by key; only of your own jobs without permission to see all jobs. Keys without jobs have no point. Pools are measured once a minute; before the last two days there is one measurement per hour. At most ${usagePointsMax.toLocaleString('en-US')}; more are refused.`,
    args: {
      pool: t.arg.string({ description: 'Name of a pool, also of a removed one; default: all pools.' }),
      from: t.arg({ type: 'DateTime', required: true, description: 'Begin of the first bucket.' }),
      to: t.arg({ type: 'DateTime', description: 'End of the time; default: now.' }),
      bucketSeconds: t.arg.int({ required: true, description: 'Length of a bucket in seconds, at least 60.' }),
      by: t.arg({ type: UsageByEnum, defaultValue: 'ACCOUNT', description: 'Key of the points.' }),
    },
    complexity: { field: 5_000, multiplier: 100 },
    resolve: (_root, { pool, from, to, bucketSeconds, by }, { domain, listSql, viewer }) =>
      readUse(listSql, viewer, {
        pool: pool ?? null,
        from,
        to: to ?? new Date(domain.time.nowMs()),
        bucketSeconds,
        by: by ?? 'ACCOUNT',
      }),
  }),
)
