import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import type { LimitsInUse, ScopeInUse } from '../../../domain/limits/in-use.ts'
import { setScopeLimit, updateLimits } from '../../../domain/limits/limits.ts'
import { parseName, partId } from '../../rows/typed-id.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { nullIfNotFound } from '../frame/problem.ts'
import { PoolRef } from '../frame/refs.ts'
import { readScope, Scope, ScopeInput } from '../frame/scope.ts'

const ScopeLimitRef = builder.objectRef<ScopeInUse>('ScopeLimit').implement({
  description: 'A limit of a queue, a project, a team or a user.',
  fields: (t) => ({
    ...exposeColumns(t, {
      maxJobs: ['Int?', 'Limit on running jobs; null: unlimited.'],
      maxGpus: ['Int?', 'Limit on GPUs in use; null: unlimited.'],
      jobsInUse: ['Int', 'Jobs counted now.'],
      gpusInUse: ['Int', 'GPUs counted now.'],
    }),
    scope: t.field({
      type: Scope,
      description: 'The queue, project, team or user that the limit applies to.',
      resolve: ({ scope, name }) => ({ kind: scope, name }),
    }),
    gpuModel: t.string({
      nullable: true,
      description: 'Count only GPUs whose model contains this text, in lower case; null: all GPUs.',
      resolve: ({ gpuModel }) => gpuModel || null,
    }),
  }),
})

const max = (description: string) =>
  ({ nullable: true, description: `${description}; null: unlimited, 0: none.` }) as const

export const LimitsRef = builder.objectRef<LimitsInUse>('Limits')

builder.node(LimitsRef, {
  description:
    'Limits on what runs at the same time in a pool. Lowering a limit delays new starts; running jobs continue.',
  id: { resolve: ({ pool }) => partId('limits', pool), description: 'Global id, for `node`: limits_<pool>' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => nullIfNotFound(load.limitsInUse.load(parseName(id))))),
  fields: (t) => ({
    ...exposeColumns(t, {
      version: [
        'UInt53',
        'Rises with each change of these limits, including `scopes`; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
      ],
      enableFairShare: ['Boolean', 'Whether `teamMaxConcurrent` is enforced.'],
      starvationThresholdSeconds: [
        'Float?',
        'Waiting time that raises the priority of a job by 10, up to 30, in pools ordered by priority; null: never.',
      ],
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool to which the limits apply.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    maxConcurrent: t.exposeInt('maxConcurrent', max('Running jobs of the pool')),
    userMaxConcurrent: t.exposeInt('userMaxConcurrent', max('Running jobs of each user')),
    teamMaxConcurrent: t.exposeInt(
      'teamMaxConcurrent',
      max('Running jobs of each team, enforced with `enableFairShare`'),
    ),
    localGpuMaxConcurrent: t.exposeInt('localGpuMaxConcurrent', max('GPUs in use in the pool')),
    localJobMaxConcurrent: t.exposeInt('localJobMaxConcurrent', max('Running jobs with GPUs in the pool')),
    userMaxActive: t.exposeInt('userMaxActive', max('Jobs of a user that are not final, checked at submission')),
    userMaxBlocked: t.exposeInt('userMaxBlocked', max('Jobs of a user that wait for an approval')),
    scopes: t.expose('scopes', {
      type: [ScopeLimitRef],
      description:
        'Limits of queues, projects, teams and users, at most 500. Without permission to see all jobs: only your own limits, those of your teams, and those of the projects of your jobs that are not final.',
    }),
  }),
})

const expectedVersion = {
  type: 'UInt53',
  description: 'Fails with a version conflict unless `Limits` of the pool has this version.',
} as const

const poolArgument = { description: 'Name of the pool; default: the pool of the default queue.' } as const

const storedLimits = (t: SuccessFields<{ pool: string }>) => ({
  limits: t.field({
    type: LimitsRef,
    description: 'The current limits of the pool.',
    resolve: ({ pool }, _args, { load }) => load.limitsInUse.clear(pool).load(pool),
  }),
})

declareMutation('updateLimits', {
  description: 'Changes the limits of a pool.',
  input: {
    argumentDescription: 'The limits.',
    description: 'Changes to the limits of a pool. Omitted fields stay; null: unlimited; 0: none.',
    fields: (t) => ({
      pool: t.string(poolArgument),
      maxConcurrent: t.int({ description: 'Running jobs of the pool.' }),
      userMaxConcurrent: t.int({ description: 'Running jobs of each user.' }),
      teamMaxConcurrent: t.int({ description: 'Running jobs of each team, enforced with `enableFairShare`.' }),
      enableFairShare: t.boolean({ description: 'Whether `teamMaxConcurrent` is enforced.' }),
      localGpuMaxConcurrent: t.int({ description: 'GPUs in use in the pool.' }),
      localJobMaxConcurrent: t.int({ description: 'Running jobs with GPUs in the pool.' }),
      userMaxActive: t.int({ description: 'Jobs of a user that are not final, checked at submission.' }),
      userMaxBlocked: t.int({ description: 'Jobs of a user that wait for an approval.' }),
      starvationThresholdSeconds: t.float({
        description:
          'Waiting time in seconds that raises a priority by 10, up to 30; null: never. No effect in pools with fair share.',
      }),
      expectedVersion: t.field(expectedVersion),
    }),
  },
  success: { description: 'The limits were changed.', fields: storedLimits },
  problems: [NotFound, VersionConflict],
  resolve: async (input, { domain, viewer }) => ({ pool: await updateLimits(domain, viewer, input) }),
})

declareMutation('setScopeLimit', {
  description: 'Sets, changes or removes a limit of a queue, a project, a team or a user.',
  input: {
    argumentDescription: 'The limit.',
    description:
      'Changes to a limit of a queue, a project, a team or a user. Omitted fields stay; null: unlimited; 0: none. A limit without any number is removed.',
    fields: (t) => ({
      pool: t.string(poolArgument),
      scope: t.field({
        type: ScopeInput,
        required: true,
        description: 'The queue, project, team or user that the limit applies to.',
      }),
      gpuModel: t.string({
        description: 'Count only GPUs whose model contains this text, case-insensitive; default: all GPUs.',
      }),
      maxJobs: t.int({ description: 'Running jobs.' }),
      maxGpus: t.int({ description: 'GPUs in use.' }),
      expectedVersion: t.field(expectedVersion),
    }),
  },
  success: { description: 'The limit was set, changed or removed.', fields: storedLimits },
  problems: [NotFound, VersionConflict],
  resolve: async (input, { domain, viewer, load }) => ({
    pool: await setScopeLimit(domain, viewer, { ...input, ...(await readScope(input.scope, load)) }),
  }),
})
