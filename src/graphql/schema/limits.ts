import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { type LimitsInUse, limitsInUse, type ScopeInUse } from '../../domain/limits/in-use.ts'
import { limitScopes, setScopeLimit, updateLimits } from '../../domain/limits/limits.ts'
import { Unavailable } from '../../platform/tx.ts'
import { builder } from '../builder.ts'

/** What may run at once. */
const LimitScope = builder.enumType('LimitScope', {
  description: 'Whose running jobs and GPUs a limit counts.',
  values: limitScopes,
})

const ScopeLimitRef = builder.objectRef<ScopeInUse>('ScopeLimit').implement({
  description: 'A limit of a queue, a project, a team or a user.',
  fields: (t) => ({
    scope: t.expose('scope', { type: LimitScope, description: 'What it is a limit of.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    gpuModel: t.string({
      nullable: true,
      description: 'Only GPUs whose model contains this, in lower case; null: all.',
      resolve: ({ gpuModel }) => gpuModel || null,
    }),
    maxJobs: t.exposeInt('maxJobs', { nullable: true, description: 'Most running jobs; null: unlimited.' }),
    maxGpus: t.exposeInt('maxGpus', { nullable: true, description: 'Most GPUs in use; null: unlimited.' }),
    jobsInUse: t.exposeInt('jobsInUse', { description: 'Jobs that count now.' }),
    gpusInUse: t.exposeInt('gpusInUse', { description: 'GPUs that count now.' }),
  }),
})

const max = (description: string) =>
  ({ nullable: true, description: `${description}; null: unlimited, 0: none.` }) as const

export const LimitsRef = builder.objectRef<LimitsInUse>('Limits').implement({
  description: 'What may run at once in a pool. Lowering a limit ends nothing; it holds back what starts next.',
  fields: (t) => ({
    pool: t.exposeString('pool', { description: 'The pool.' }),
    maxConcurrent: t.exposeInt('maxConcurrent', max('Running jobs of the pool')),
    userMaxConcurrent: t.exposeInt('userMaxConcurrent', max('Running jobs of each user')),
    teamMaxConcurrent: t.exposeInt('teamMaxConcurrent', max('Running jobs of each team, with enableFairShare')),
    enableFairShare: t.exposeBoolean('enableFairShare', { description: 'Whether teamMaxConcurrent holds.' }),
    localGpuMaxConcurrent: t.exposeInt('localGpuMaxConcurrent', max('GPUs in use in the pool')),
    localJobMaxConcurrent: t.exposeInt('localJobMaxConcurrent', max('Running jobs with GPUs in the pool')),
    userMaxActive: t.exposeInt('userMaxActive', max('Jobs of a user that are not final, asked at submission')),
    userMaxBlocked: t.exposeInt('userMaxBlocked', max('Jobs of a user that wait for an approval')),
    starvationThresholdSeconds: t.exposeFloat('starvationThresholdSeconds', {
      description:
        'The wait that raises the priority of a job by 10, up to 30, where the order is by priority; 0: never.',
    }),
    scopes: t.expose('scopes', {
      type: [ScopeLimitRef],
      description:
        'Limits of queues, projects, teams and users, at most 500. Unless you may see all jobs: of users you, of teams yours, of projects those of your jobs that are not over.',
    }),
  }),
})

const poolArgument = { description: 'Name of the pool; default: the one that the default queue leads to.' } as const

builder.queryField('limits', (t) =>
  t.field({
    type: LimitsRef,
    description: 'What may run at once in a pool.',
    args: { pool: t.arg.string(poolArgument) },
    resolve: (_root, { pool }, { domain, viewer }) => limitsInUse(domain, viewer, pool ?? null),
  }),
)

const UpdateLimitsSuccess = builder.objectRef<{ pool: string }>('UpdateLimitsSuccess').implement({
  description: 'The limits hold.',
  fields: (t) => ({
    limits: t.field({
      type: LimitsRef,
      description: 'The limits of the pool as they are now.',
      resolve: ({ pool }, _args, { domain, viewer }) => limitsInUse(domain, viewer, pool),
    }),
  }),
})

const refusals = [InvalidInput, NotFound, Forbidden, Unavailable] as const

const UpdateLimitsResult = builder.errorUnion('UpdateLimitsResult', {
  description: 'What became of a change of limits.',
  types: [UpdateLimitsSuccess, ...refusals],
  resolveType: () => UpdateLimitsSuccess,
})

const UpdateLimitsInput = builder.inputType('UpdateLimitsInput', {
  description: 'Limits of a pool. What is left out stays as it is; null: unlimited; 0: none.',
  fields: (t) => ({
    pool: t.string(poolArgument),
    maxConcurrent: t.int({ description: 'Running jobs of the pool.' }),
    userMaxConcurrent: t.int({ description: 'Running jobs of each user.' }),
    teamMaxConcurrent: t.int({ description: 'Running jobs of each team, with enableFairShare.' }),
    enableFairShare: t.boolean({ description: 'Whether teamMaxConcurrent holds.' }),
    localGpuMaxConcurrent: t.int({ description: 'GPUs in use in the pool.' }),
    localJobMaxConcurrent: t.int({ description: 'Running jobs with GPUs in the pool.' }),
    userMaxActive: t.int({ description: 'Jobs of a user that are not final, asked at submission.' }),
    userMaxBlocked: t.int({ description: 'Jobs of a user that wait for an approval.' }),
    starvationThresholdMinutes: t.int({
      description:
        'The wait that raises a priority by 10, up to 30, in minutes; 0: never. Without effect under fair share.',
    }),
    starvationThresholdSeconds: t.float({ description: 'The same in seconds; not both.' }),
  }),
})

builder.mutationField('updateLimits', (t) =>
  t.field({
    type: UpdateLimitsResult,
    description: 'Changes the limits of a pool.',
    args: { input: t.arg({ type: UpdateLimitsInput, required: true, description: 'The limits.' }) },
    resolve: async (_root, { input }, { domain, viewer }) => ({ pool: await updateLimits(domain, viewer, input) }),
  }),
)

const SetScopeLimitResult = builder.errorUnion('SetScopeLimitResult', {
  description: 'What became of a limit.',
  types: [UpdateLimitsSuccess, ...refusals],
  resolveType: () => UpdateLimitsSuccess,
})

const SetScopeLimitInput = builder.inputType('SetScopeLimitInput', {
  description: 'A limit of a queue, a project, a team or a user. Without maxJobs and maxGpus it goes.',
  fields: (t) => ({
    pool: t.string(poolArgument),
    scope: t.field({ type: LimitScope, required: true, description: 'What it is a limit of.' }),
    name: t.string({ required: true, description: 'Its name.' }),
    gpuModel: t.string({ description: 'Only GPUs whose model contains this, whatever its case; default: all.' }),
    maxJobs: t.int({ description: 'Most running jobs; default: unlimited.' }),
    maxGpus: t.int({ description: 'Most GPUs in use; default: unlimited.' }),
  }),
})

builder.mutationField('setScopeLimit', (t) =>
  t.field({
    type: SetScopeLimitResult,
    description: 'Sets, changes or removes a limit of a queue, a project, a team or a user.',
    args: { input: t.arg({ type: SetScopeLimitInput, required: true, description: 'The limit.' }) },
    resolve: async (_root, { input }, { domain, viewer }) => ({ pool: await setScopeLimit(domain, viewer, input) }),
  }),
)
