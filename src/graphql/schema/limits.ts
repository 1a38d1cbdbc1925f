import { NotFound, VersionConflict } from '../../domain/errors.ts'
import { type LimitsInUse, readLimitsInUse, type ScopeInUse } from '../../domain/limits/in-use.ts'
import { type limitScopes, setScopeLimit, updateLimits } from '../../domain/limits/limits.ts'
import { partId } from '../rows/typed-id.ts'
import { builder } from './builder.ts'
import { describeValues } from './enum-values.ts'
import { declareResult } from './mutation-result.ts'
import { nullIfNotFound } from './problem.ts'
import { PoolRef } from './refs.ts'

const LimitScope = builder.enumType('LimitScope', {
  description: 'Kind of object that a limit applies to.',
  values: describeValues({
    QUEUE: 'Jobs of a submission queue.',
    PROJECT: 'Jobs of a project.',
    TEAM: 'Jobs of a team.',
    USER: 'Jobs of a user.',
  } satisfies Record<(typeof limitScopes)[number], string>),
})

const ScopeLimitRef = builder.objectRef<ScopeInUse>('ScopeLimit').implement({
  description: 'A limit of a queue, a project, a team or a user.',
  fields: (t) => ({
    scope: t.expose('scope', { type: LimitScope, description: 'Kind of object that the limit applies to.' }),
    name: t.exposeString('name', { description: 'Name of the queue, project, team or user.' }),
    gpuModel: t.string({
      nullable: true,
      description: 'Count only GPUs whose model contains this text, in lower case; null: all GPUs.',
      resolve: ({ gpuModel }) => gpuModel || null,
    }),
    maxJobs: t.exposeInt('maxJobs', { nullable: true, description: 'Limit on running jobs; null: unlimited.' }),
    maxGpus: t.exposeInt('maxGpus', { nullable: true, description: 'Limit on GPUs in use; null: unlimited.' }),
    jobsInUse: t.exposeInt('jobsInUse', { description: 'Jobs counted now.' }),
    gpusInUse: t.exposeInt('gpusInUse', { description: 'GPUs counted now.' }),
  }),
})

const max = (description: string) =>
  ({ nullable: true, description: `${description}; null: unlimited, 0: none.` }) as const

export const LimitsRef = builder.objectRef<LimitsInUse>('Limits').implement({
  description:
    'Limits on what runs at the same time in a pool. Lowering a limit delays new starts; running jobs continue.',
  fields: (t) => ({
    id: t.id({
      description: 'Key for caches, not for `node`: one for each pool.',
      resolve: ({ pool }) => partId('limits', pool),
    }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool to which the limits apply.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    version: t.exposeInt('version', {
      description:
        'Rises with each change of these limits, including `scopes`; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
    }),
    maxConcurrent: t.exposeInt('maxConcurrent', max('Running jobs of the pool')),
    userMaxConcurrent: t.exposeInt('userMaxConcurrent', max('Running jobs of each user')),
    teamMaxConcurrent: t.exposeInt(
      'teamMaxConcurrent',
      max('Running jobs of each team, enforced with `enableFairShare`'),
    ),
    enableFairShare: t.exposeBoolean('enableFairShare', { description: 'Whether `teamMaxConcurrent` is enforced.' }),
    localGpuMaxConcurrent: t.exposeInt('localGpuMaxConcurrent', max('GPUs in use in the pool')),
    localJobMaxConcurrent: t.exposeInt('localJobMaxConcurrent', max('Running jobs with GPUs in the pool')),
    userMaxActive: t.exposeInt('userMaxActive', max('Jobs of a user that are not final, checked at submission')),
    userMaxBlocked: t.exposeInt('userMaxBlocked', max('Jobs of a user that wait for an approval')),
    starvationThresholdSeconds: t.exposeFloat('starvationThresholdSeconds', {
      description:
        'Waiting time that raises the priority of a job by 10, up to 30, in pools ordered by priority; 0: never.',
    }),
    scopes: t.expose('scopes', {
      type: [ScopeLimitRef],
      description:
        'Limits of queues, projects, teams and users, at most 500. Without permission to see all jobs: only your own limits, those of your teams, and those of the projects of your jobs that are not final.',
    }),
  }),
})

const poolArgument = { description: 'Name of the pool; default: the pool of the default queue.' } as const

builder.queryField('limits', (t) =>
  t.field({
    type: LimitsRef,
    nullable: true,
    description: 'Limits on what runs at the same time in a pool; null: the pool does not exist.',
    args: { pool: t.arg.string(poolArgument) },
    resolve: (_root, { pool }, { domain, viewer }) => nullIfNotFound(readLimitsInUse(domain, viewer, pool ?? null)),
  }),
)

const declareLimitsResult = (mutation: 'UpdateLimits' | 'SetScopeLimit', description: string) =>
  declareResult(
    mutation,
    builder.objectRef<{ pool: string }>(`${mutation}Success`).implement({
      description,
      fields: (t) => ({
        limits: t.field({
          type: LimitsRef,
          description: 'The current limits of the pool.',
          resolve: ({ pool }, _args, { domain, viewer }) => readLimitsInUse(domain, viewer, pool),
        }),
      }),
    }),
    [NotFound, VersionConflict],
  )

const UpdateLimitsInput = builder.inputType('UpdateLimitsInput', {
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
        'Waiting time in seconds that raises a priority by 10, up to 30; 0: never. No effect in pools with fair share.',
    }),
    expectedVersion: t.int({
      description: 'Fails with a version conflict unless `Limits` of the pool has this version.',
    }),
  }),
})

builder.mutationField('updateLimits', (t) =>
  t.field({
    type: declareLimitsResult('UpdateLimits', 'The limits were changed.'),
    description: 'Changes the limits of a pool.',
    args: { input: t.arg({ type: UpdateLimitsInput, required: true, description: 'The limits.' }) },
    resolve: async (_root, { input }, { domain, viewer }) => ({ pool: await updateLimits(domain, viewer, input) }),
  }),
)

const SetScopeLimitInput = builder.inputType('SetScopeLimitInput', {
  description: 'A limit of a queue, a project, a team or a user. Omit `maxJobs` and `maxGpus` to remove it.',
  fields: (t) => ({
    pool: t.string(poolArgument),
    scope: t.field({ type: LimitScope, required: true, description: 'Kind of object that the limit applies to.' }),
    name: t.string({ required: true, description: 'Name of the queue, project, team or user.' }),
    gpuModel: t.string({
      description: 'Count only GPUs whose model contains this text, case-insensitive; default: all GPUs.',
    }),
    maxJobs: t.int({ description: 'Limit on running jobs; default: unlimited.' }),
    maxGpus: t.int({ description: 'Limit on GPUs in use; default: unlimited.' }),
    expectedVersion: t.int({
      description: 'Fails with a version conflict unless `Limits` of the pool has this version.',
    }),
  }),
})

builder.mutationField('setScopeLimit', (t) =>
  t.field({
    type: declareLimitsResult('SetScopeLimit', 'The limit was set, changed or removed.'),
    description: 'Sets, changes or removes a limit of a queue, a project, a team or a user.',
    args: { input: t.arg({ type: SetScopeLimitInput, required: true, description: 'The limit.' }) },
    resolve: async (_root, { input }, { domain, viewer }) => ({ pool: await setScopeLimit(domain, viewer, input) }),
  }),
)
