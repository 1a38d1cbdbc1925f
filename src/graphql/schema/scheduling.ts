import type { Estimate } from '../../domain/queue/estimate.ts'
import type { Waiting } from '../../domain/queue/explain.ts'
import { type Fit as FitShape, isThere } from '../../domain/queue/fit.ts'
import { type Reason, unnamed } from '../../domain/reason.ts'
import { builder } from '../builder.ts'
import type { RequestContext } from '../context.ts'
import { HoldRef, JobRef } from '../refs.ts'

/** Why a job waits, and for how long. Of jobs that are not the viewer's to see it tells nothing, their ids neither. */
const seesJob = async (jobId: string, { viewer, load }: RequestContext): Promise<boolean> =>
  viewer.permissions.has('job.view.all') || (await load.job.load(jobId)) !== null

const shown = async (reason: Reason, context: RequestContext): Promise<Reason> =>
  reason.jobId === null || (await seesJob(reason.jobId, context)) ? reason : unnamed(reason)

export const PendingReason = builder.objectRef<Reason>('PendingReason').implement({
  description: 'A reason why a job waits.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The reason, for programs.' }),
    message: t.string({
      description: 'The same as a sentence.',
      resolve: async (reason, _args, context) => (await shown(reason, context)).message,
    }),
    jobId: t.id({
      nullable: true,
      description: 'The job it waits for, where it is one that is yours to see.',
      resolve: async (reason, _args, context) => (await shown(reason, context)).jobId,
    }),
    scope: t.exposeString('scope', {
      nullable: true,
      description: 'Whose limit is reached: "user:ann", "pool:local" …',
    }),
    limit: t.exposeFloat('limit', { nullable: true, description: 'The limit.' }),
    used: t.exposeFloat('used', { nullable: true, description: 'What counts against it now.' }),
  }),
})

const Gate = builder.objectRef<Waiting['gates'][number]>('Gate').implement({
  description: 'Something that must be so before the job may stand in line.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'What it is.' }),
    open: t.exposeBoolean('open', { description: 'Whether it is so.' }),
    detail: t.string({
      nullable: true,
      description: 'What it waits for; null: nothing that is yours to see.',
      resolve: async ({ code, detail }, _args, context) =>
        code !== 'DEPENDENCY' || detail === null || (await seesJob(detail, context)) ? detail : null,
    }),
    opensAt: t.expose('opensAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it opens, or opened, where that is known.',
    }),
  }),
})

export const Fit = builder.objectRef<FitShape>('Fit').implement({
  description: 'Whether the pool has what the job asks for.',
  fields: (t) => ({
    freeNow: t.exposeBoolean('freeNow', { description: 'It is free at this moment.' }),
    couldEverFit: t.exposeBoolean('couldEverFit', { description: 'It would fit an empty pool.' }),
    missing: t.exposeStringList('missing', { description: 'What is missing, in words.' }),
  }),
})

export const EstimatedStart = builder.objectRef<Estimate>('EstimatedStart').implement({
  description: 'When a job may start. Nobody promises it.',
  fields: (t) => ({
    earliest: t.expose('earliest', { type: 'DateTime', description: 'Not before this, unless others end early.' }),
    latest: t.expose('latest', {
      type: 'DateTime',
      nullable: true,
      description: 'Not after this, unless others come first; null: a job ahead has no known run time.',
    }),
    basis: t.exposeString('basis', { description: 'What it is made of.' }),
  }),
})

builder.node(HoldRef, {
  description: 'Nodes that are kept for a job.',
  id: { resolve: (hold) => hold.id, description: 'hold_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.hold.load(id))),
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      nullable: true,
      description: 'The job; null: not yours to see.',
      resolve: ({ jobId }, _args, { load }) => load.job.load(jobId),
    }),
    nodes: t.exposeStringList('nodes', { description: 'Names of the nodes.' }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when.' }),
    expectedAt: t.expose('expectedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is expected to be complete; null: nobody knows.',
    }),
    waitingForVictims: t.exposeInt('waitingForVictims', {
      description: 'Runs that were asked to leave and have not yet.',
    }),
  }),
})

interface Standing extends Waiting {
  jobId: string
}

export const Scheduling = builder.objectRef<Standing>('Scheduling').implement({
  description: 'Where a QUEUED job stands.',
  fields: (t) => ({
    reasons: t.expose('reasons', { type: [PendingReason], description: 'Why it waits; the first decides.' }),
    jobsAhead: t.int({
      description: 'Jobs of its pool that come before it.',
      resolve: async ({ jobId }, _args, { load }) => ((await load.position.load(jobId))?.position ?? 1) - 1,
    }),
    positionIsExact: t.boolean({
      description: 'Whether the place is certain, rather than the rank if nothing changes.',
      resolve: async ({ jobId }, _args, { load }) => (await load.position.load(jobId))?.exact ?? true,
    }),
    gates: t.expose('gates', { type: [Gate], description: 'What must be so before it may stand in line.' }),
    fit: t.field({
      type: Fit,
      description: 'Whether the pool has what it asks for.',
      resolve: async ({ jobId }, _args, { load }) => (await load.fit.load(jobId)) ?? isThere,
    }),
    hold: t.field({
      type: HoldRef,
      nullable: true,
      description: 'Nodes that are kept for it; null: none.',
      resolve: ({ holdId }, _args, { load }) => (holdId === null ? null : load.hold.load(holdId)),
    }),
    estimatedStart: t.field({
      type: EstimatedStart,
      nullable: true,
      description: 'When it may start; null: what it waits for has no time.',
      resolve: ({ jobId }, _args, { load }) => load.estimate.load(jobId),
    }),
    lastConsideredAt: t.expose('lastConsideredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the leader of the pool last looked at it, or at what holds for it; null: not yet.',
    }),
  }),
})
