import type { Estimate } from '../../../domain/queue/estimate.ts'
import { type Fit as FitShape, placedFit } from '../../../domain/queue/fit.ts'
import type { WaitingFacts } from '../../../domain/queue/why-waiting.ts'
import { hideBlockingJob, type Reason } from '../../../domain/reason.ts'
import { estimateCost, fitCost } from '../../caller-limits.ts'
import type { RequestContext } from '../../rows/context.ts'
import { loadNodes } from '../../rows/loaders.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { PendingReasonCode } from '../frame/enums.ts'
import { exposeColumns, objectFieldOrNull } from '../frame/fields.ts'
import { HoldRef, JobRef, PoolNodeRef } from '../frame/refs.ts'
import { parseScope, Scope } from '../frame/scope.ts'

/** true: the viewer may see the job. Scheduling details must not reveal other jobs, not even their ids. */
const maySeeJob = async (jobId: string, { viewer, load }: RequestContext): Promise<boolean> =>
  viewer.permissions.has('job.view.all') || (await load.job.load(jobId)) !== null

const shown = async (reason: Reason, context: RequestContext): Promise<Reason> =>
  reason.jobId === null || (await maySeeJob(reason.jobId, context)) ? reason : hideBlockingJob(reason)

export const PendingReason = builder.objectRef<Reason>('PendingReason').implement({
  description: 'A reason why a job waits.',
  fields: (t) => ({
    ...exposeColumns(t, {
      limit: ['Float?', 'The limit that is reached; null: the reason is not a limit.'],
      used: ['Float?', 'Current usage counted against the limit.'],
    }),
    code: t.expose('code', { type: PendingReasonCode, description: 'Kind of the reason.' }),
    message: t.string({
      description: 'Explanation for humans.',
      resolve: async (reason, _args, context) => (await shown(reason, context)).message,
    }),
    job: objectFieldOrNull(t, 'jobId', 'The job to wait for; null: none, or not visible to you.'),
    scope: t.field({
      type: Scope,
      nullable: true,
      description: 'Whose jobs the reached limit counts; null: the reason is not a limit.',
      resolve: ({ scope }) => (scope === null ? null : parseScope(scope)),
    }),
  }),
})

const GateCode = builder.enumType('GateCode', {
  description: 'Kind of a gate.',
  values: describeValues({
    APPROVAL: 'The job must be approved.',
    NOT_BEFORE: 'The earliest start must have come.',
    DEPENDENCY: 'Other jobs must have ended.',
    RESERVATION_WINDOW: 'The window of the capacity reservation must be open.',
    RESTART_BACKOFF: 'The wait before the next run must be over.',
  } satisfies Record<WaitingFacts['gates'][number]['code'], string>),
})

const Gate = builder.objectRef<WaitingFacts['gates'][number]>('Gate').implement({
  description: 'A condition that must hold before the job can be queued for resources.',
  fields: (t) => ({
    ...exposeColumns(t, {
      open: ['Boolean', 'Whether the condition holds.'],
      opensAt: ['DateTime?', 'When the gate opens or opened; null: unknown.'],
    }),
    code: t.expose('code', { type: GateCode, description: 'Kind of the gate.' }),
    job: t.field({
      type: JobRef,
      nullable: true,
      description: 'The job that must end first; null: another kind of gate, an open one, or not visible to you.',
      resolve: ({ code, detail }, _args, { load }) =>
        code !== 'DEPENDENCY' || detail === null ? null : load.job.load(detail),
    }),
    message: t.string({
      nullable: true,
      description: 'Explanation for humans; null: `code` and `opensAt` say it all.',
      resolve: ({ code, detail }) => (code === 'DEPENDENCY' ? null : detail),
    }),
  }),
})

export const Fit = builder.objectRef<FitShape>('Fit').implement({
  description:
    'Whether the job could start if it were first in the queue. Holds for other jobs do not count; `reasons` lists them.',
  fields: (t) =>
    exposeColumns(t, {
      freeNow: [
        'Boolean',
        'Whether the job could start now: its resources are free and not kept for a job before it, and limits, reservations and the share of non-preemptable jobs allow the start.',
      ],
      couldEverFit: [
        'Boolean',
        'Whether the job could start if nothing else ran; false: it waits until nodes, limits or settings of the pool change.',
      ],
      missing: [
        '[String]',
        'Obstacles to a start now: missing resources, limits, reservations, the share of non-preemptable jobs.',
      ],
    }),
})

const namesMax = 3

export const EstimatedStart = builder.objectRef<Estimate>('EstimatedStart').implement({
  description:
    'Estimated start of a job; not guaranteed. The scheduler simulates the queue every few seconds with known and typical run times.',
  fields: (t) => ({
    ...exposeColumns(t, {
      p50: [
        'DateTime?',
        'Median: the job starts by this time with a probability of 50 %; null: no forecast, because the job was just submitted, a gate is closed, the job is too far back, or a job ahead has no known run time.',
      ],
      p90: [
        'DateTime?',
        'The job starts by this time with a probability of 90 %, unless later jobs get ahead; null: no forecast.',
      ],
      earliest: [
        'DateTime?',
        'Lower bound: earliest start, unless other jobs end early; null: unknown, `message` says why.',
      ],
      latest: [
        'DateTime?',
        'Upper bound: latest start, unless other jobs get ahead; null: a job ahead has no known run time.',
      ],
    }),
    message: t.string({
      description: 'Basis of the estimate, for humans; without times, the jobs for whose unknown end the job waits.',
      resolve: async ({ basis, unknown }, _args, context) => {
        const seen = await Promise.all(unknown.slice(0, namesMax).map((jobId) => maySeeJob(jobId, context)))
        const named = unknown.filter((_, at) => seen[at])
        const others = unknown.length - named.length
        const rest = others > 0 ? [`${others} ${named.length > 0 ? 'other ' : ''}${others === 1 ? 'job' : 'jobs'}`] : []
        return unknown.length === 0 ? basis : `${basis}: ${[...named, ...rest].join(', ')}`
      },
    }),
  }),
})

builder.node(HoldRef, {
  description: 'Nodes that are kept for a waiting job: it is planned to start there, or its victims are leaving.',
  id: { resolve: (hold) => hold.id, description: 'Global id, for `node`: hold_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.hold.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      since: ['DateTime', 'Since when nodes are kept for the job.'],
      expectedAt: ['DateTime?', 'When all nodes are expected to be free; null: unknown.'],
      waitingForVictims: ['Int', 'Number of preempted runs that have not ended yet.'],
    }),
    job: objectFieldOrNull(t, 'jobId', 'The job; null: not visible to you.'),
    nodes: t.field({
      type: [PoolNodeRef],
      description: 'The nodes.',
      resolve: ({ pool, nodes }, _args, { load }) => loadNodes(load, pool, nodes),
    }),
  }),
})

interface Standing extends WaitingFacts {
  jobId: string
}

export const Scheduling = builder.objectRef<Standing>('Scheduling').implement({
  description: 'Scheduling details of a job that is QUEUED or BLOCKED.',
  fields: (t) => ({
    reasons: t.expose('reasons', {
      type: [PendingReason],
      description: 'Why the job waits; the first reason is the decisive one.',
    }),
    jobsAhead: t.int({
      description: 'Number of jobs ahead in the pool; 0 for a BLOCKED job.',
      resolve: async ({ jobId }, _args, { load }) => ((await load.position.load(jobId))?.position ?? 1) - 1,
    }),
    positionIsExact: t.boolean({
      description: 'Whether the position is exact; false: an approximation.',
      resolve: async ({ jobId }, _args, { load }) => (await load.position.load(jobId))?.exact ?? true,
    }),
    gates: t.expose('gates', {
      type: [Gate],
      description: 'Conditions that must hold before the job can be queued for resources.',
    }),
    fit: t.field({
      type: Fit,
      description: 'Whether the pool has the requested resources.',
      complexity: fitCost,
      resolve: async ({ jobId }, _args, { load }) => (await load.fit.load(jobId)) ?? placedFit,
    }),
    hold: objectFieldOrNull(t, 'holdId', 'Nodes kept for the job; null: none.'),
    estimatedStart: t.field({
      type: EstimatedStart,
      nullable: true,
      description: 'Estimated start; null: no estimate is possible.',
      complexity: estimateCost,
      resolve: ({ jobId }, _args, { load }) => load.estimate.load(jobId),
    }),
    lastConsideredAt: t.expose('lastConsideredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the scheduler last considered the job or the jobs it stands for; null: not yet.',
    }),
  }),
})
