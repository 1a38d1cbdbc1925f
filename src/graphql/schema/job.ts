import { maySee } from '../../domain/access.ts'
import { satisfied } from '../../domain/jobs/dependencies.ts'
import { isAlive, psijState, stateCategory } from '../../domain/state.ts'
import type { JobRow } from '../../domain/submission/stored-job.ts'
import type { Dependency } from '../../platform/generated/client.ts'
import { allowedActions } from '../allowed-actions.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { encodeCursor } from '../cursor.ts'
import { pageCost } from '../page.ts'
import { JobRef, RunRef, TeamRef, UserRef } from '../refs.ts'
import { DependencyOn, JobState, PsijState, StateCategory } from './enums.ts'
import { JobEventConnection } from './event.ts'
import { JobConnection, nestedJobs } from './job-connection.ts'
import { JobSpecRef, LabelRef } from './job-spec.ts'
import { seen } from './problem.ts'
import { RunConnection } from './run.ts'
import { Scheduling } from './scheduling.ts'

/** A job as people see it. */
const JobAction = builder.enumType('JobAction', {
  description: 'What can be done with a job.',
  values: ['CANCEL', 'RETRY', 'APPROVE', 'REJECT', 'SET_PRIORITY', 'DELETE'] as const,
})

const Progress = builder.objectRef<JobRow & { progressAt: Date }>('Progress').implement({
  description: 'How far a job says it is.',
  fields: (t) => ({
    fraction: t.exposeFloat('progressFraction', { nullable: true, description: '0 … 1.' }),
    message: t.exposeString('progressMessage', { nullable: true, description: 'In words.' }),
    at: t.expose('progressAt', { type: 'DateTime', description: 'When it said so.' }),
  }),
})

const isDependencyOn = (text: string): text is typeof DependencyOn.$inferType =>
  ['SUCCEEDED', 'FAILED', 'FINISHED'].includes(text)

const DependencyRef = builder.objectRef<Dependency>('Dependency').implement({
  description: 'A job that must end first.',
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job that is waited for.',
      resolve: ({ onJobId }, _args, { load }) => seen(load.job.load(onJobId)),
    }),
    on: t.field({
      type: DependencyOn,
      description: 'How it must end.',
      resolve: ({ on }) => (isDependencyOn(on) ? on : 'SUCCEEDED'),
    }),
    satisfied: t.boolean({
      nullable: true,
      description: 'Whether it did; null: still open.',
      resolve: async ({ on, onJobId }, _args, { load }) => satisfied(on, (await seen(load.job.load(onJobId))).state),
    }),
  }),
})

const hasProgress = (job: JobRow): job is JobRow & { progressAt: Date } => job.progressAt !== null

builder.node(JobRef, {
  description: 'What a user asked for: a spec that never changes, and the state of its last run.',
  id: { resolve: (job) => job.id, description: 'job_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.job.load(id))),
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Name given by the user.' }),
    labels: t.field({
      type: [LabelRef],
      description: 'Keys and values, at most 64.',
      resolve: async ({ id }, _args, { specs }) => (await specs.words.load(id)).labels,
    }),
    spec: t.field({
      type: JobSpecRef,
      description: 'What was asked for. A request shows 1 MiB of specs, or a single one of any size.',
      resolve: async ({ id, userId }, _args, { viewer, specs }) => ({
        ...(await specs.load(id)),
        isOwner: userId === viewer.userId,
      }),
    }),
    state: t.expose('state', { type: JobState, description: 'State of the last run.' }),
    stateCategory: t.field({
      type: StateCategory,
      description: 'Whether it waits, is active, or is over.',
      resolve: ({ state }) => stateCategory[state],
    }),
    stateReason: t.exposeString('stateReason', { nullable: true, description: 'Why it is in this state, as a code.' }),
    stateInfo: t.exposeString('stateInfo', { nullable: true, description: 'The same as a sentence.' }),
    psijState: t.field({
      type: PsijState,
      description: 'The state as PSI/J names it.',
      resolve: ({ state, startedAt }) => psijState(state, startedAt !== null),
    }),
    alive: t.boolean({ description: 'Whether its state may still change.', resolve: ({ state }) => isAlive(state) }),
    version: t.expose('version', { type: 'UInt53', description: 'seq of its newest event.' }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'Exit code of the last run; null: it never ran.',
    }),
    user: t.field({
      type: UserRef,
      description: 'Who submitted it.',
      resolve: ({ userId }, _args, { load }) => seen(load.user.load(userId)),
    }),
    team: t.field({
      type: TeamRef,
      nullable: true,
      description: 'The team it was submitted for; null: none.',
      resolve: ({ teamId }, _args, { load }) => (teamId === null ? null : load.team.load(teamId)),
    }),
    account: t.exposeString('account', { description: 'Unit of fair share that is charged.' }),
    project: t.exposeString('project', { nullable: true, description: 'Project it belongs to.' }),
    executor: t.exposeString('executor', { description: 'The mechanism that runs it.' }),
    pool: t.exposeString('pool', { description: 'The pool it waits in or ran in.' }),
    queue: t.exposeString('queue', { description: 'Name of the door it came through.' }),
    nativeId: t.string({
      nullable: true,
      description: "The backend's name of the last run.",
      resolve: async (job, _args, { load }) => (await load.currentRun.load(job)).nativeId,
    }),
    priority: t.int({
      description:
        'Its priority now, higher comes first: the one that was set, else that of the level, raised by waiting.',
      resolve: async (job, _args, { load }) =>
        (job.state === 'QUEUED' ? await load.priorityNow.load(job.id) : null) ??
        job.priorityOverride ??
        job.basePriority,
    }),
    basePriority: t.exposeInt('basePriority', {
      description: 'Priority by the level of the user at submission: 30, 20, 10, 0.',
    }),
    priorityOverride: t.exposeInt('priorityOverride', {
      nullable: true,
      description: 'The priority that a person set; null: none.',
    }),
    attempt: t.exposeInt('runNumber', { description: 'Number of the last run.' }),
    maxAttempts: t.int({
      description: 'Runs at most that may end by exit code.',
      resolve: async ({ id }, _args, { specs }) => (await specs.words.load(id)).maxAttempts ?? 1,
    }),
    estimatedCost: t.exposeFloat('estimatedCost', {
      nullable: true,
      description: 'What the submitter expects it to cost.',
    }),
    cost: t.float({
      nullable: true,
      description: 'What its runs have cost by the rates of its pool; null while it is alive, or without rates.',
      resolve: ({ state, cost }) => (isAlive(state) ? null : cost),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Submitted.' }),
    queuedAt: t.expose('queuedAt', { type: 'DateTime', nullable: true, description: 'First QUEUED.' }),
    eligibleAt: t.expose('eligibleAt', {
      type: 'DateTime',
      nullable: true,
      description: 'First moment with every gate open; waiting counts from here.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'First RUNNING of any run.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Final state reached.' }),
    progress: t.field({
      type: Progress,
      nullable: true,
      description: 'How far it says it is.',
      resolve: (job) => (hasProgress(job) ? job : null),
    }),
    allowedActions: t.field({
      type: [JobAction],
      description: 'What you may do with it now.',
      async resolve(job, _args, { viewer, load, domain: { singleUser } }) {
        const approval = job.state === 'BLOCKED' ? await load.approvalOfJob.load(job.id) : null
        return allowedActions(viewer, job, { approval, singleUser })
      },
    }),
    runs: t.field({
      type: RunConnection,
      description: 'Its runs by number.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async (job, args, { load }) =>
        toConnection(await load.runsOfJob.load(job.id, args), (ids) => load.run.loadMany(ids)),
    }),
    currentRun: t.field({
      type: RunRef,
      description: 'The last run, alive or not.',
      resolve: (job, _args, { load }) => load.currentRun.load(job),
    }),
    events: t.field({
      type: JobEventConnection,
      description: 'Its history by seq.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async (job, args, { load }) =>
        toConnection(await load.eventsOfJob.load(job.id, args), (ids) => load.event.loadMany(ids)),
    }),
    dependsOn: t.field({
      type: JobConnection,
      description: 'Jobs that must end first, in the order of the spec.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: (job, args, context) => nestedJobs(context, context.load.dependsOn, { parent: job.id, args }),
    }),
    dependencies: t.field({
      type: [DependencyRef],
      description: 'The same with their condition, at most 100.',
      resolve: async (job, _args, { load, viewer }) => {
        const all = await load.dependencies.load(job.id)
        const jobs = await Promise.all(all.map(({ onJobId }) => load.job.load(onJobId)))
        return all.filter((_, index) => jobs[index] && maySee(viewer, jobs[index]))
      },
    }),
    dependents: t.field({
      type: JobConnection,
      description: 'Jobs that wait for this one.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: (job, args, context) => nestedJobs(context, context.load.dependents, { parent: job.id, args }),
    }),
    scheduling: t.field({
      type: Scheduling,
      nullable: true,
      description: 'Why it waits; null unless QUEUED.',
      async resolve({ id, state }, _args, { load }) {
        const waiting = state === 'QUEUED' ? await load.waiting.load(id) : null
        return waiting && { ...waiting, jobId: id }
      },
    }),
    queuePosition: t.int({
      nullable: true,
      description: "Its place in the pool's order, from 1; null unless QUEUED.",
      resolve: async ({ id, state }, _args, { load }) =>
        state === 'QUEUED' ? ((await load.position.load(id))?.position ?? null) : null,
    }),
    eventCursor: t.field({
      type: 'Cursor',
      description: 'Hand it to jobStatus(after:): nothing is missed, nothing repeated.',
      resolve: (job) => encodeCursor('seq', { j: job.id, s: Number(job.version) }),
    }),
  }),
})
