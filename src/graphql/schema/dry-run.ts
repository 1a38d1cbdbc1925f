import type { DryRun } from '../../domain/submission/start-now.ts'
import { builder } from '../builder.ts'
import { JobRef } from '../refs.ts'
import { JobState } from './enums.ts'
import { JobSpecRef } from './job-spec.ts'
import { EstimatedStart, Fit, PendingReason } from './scheduling.ts'

/** What would become of a submission. Nothing was written. */
export const DryRunRef = builder.objectRef<DryRun>('DryRun').implement({
  description: 'What would become of a submission now. Nothing was written.',
  fields: (t) => ({
    wouldBe: t.expose('wouldBe', {
      type: JobState,
      description:
        'STARTING: it would start now. QUEUED: it would wait. BLOCKED: a person must say yes first. FAILED: the quota of interactive jobs would refuse it.',
    }),
    nodes: t.exposeStringList('nodes', { description: 'Nodes on which it would start.' }),
    node: t.string({ nullable: true, description: 'The first of them.', resolve: ({ nodes }) => nodes[0] ?? null }),
    gpuIds: t.exposeIntList('gpuIds', { description: 'Physical ids of the GPUs that it would get.' }),
    reasons: t.expose('reasons', { type: [PendingReason], description: 'Why it would not start now.' }),
    fit: t.expose('fit', {
      type: Fit,
      nullable: true,
      description: 'Whether the pool has what it asks for; null: the key of this submission has a job already.',
    }),
    warnings: t.exposeStringList('warnings', {
      description: 'What would be changed of your words, and what to look out for.',
    }),
    queuePosition: t.exposeInt('position', {
      nullable: true,
      description: 'Place in line, 1: next; null: it would not stand in line.',
    }),
    estimatedStart: t.expose('estimatedStart', {
      type: EstimatedStart,
      nullable: true,
      description:
        'When it may start; null: what it waits for has no time, or the key of this submission has a job already.',
    }),
    idempotentJob: t.field({
      type: JobRef,
      nullable: true,
      description: 'The job that the key of this submission answers already.',
      resolve: ({ idempotentJobId: id }, _args, { load }) => (id === null ? null : load.job.load(id)),
    }),
    spec: t.field({
      type: JobSpecRef,
      description: 'The spec as it would be stored.',
      resolve: ({ spec }) => ({ ...spec, isOwner: true }),
    }),
  }),
})
