import { maySee } from '../../../domain/access.ts'
import { listAllowedActions } from '../../../domain/control/allowed-actions.ts'
import { sessionsListedMax } from '../../../domain/control/sessions.ts'
import { isSatisfied } from '../../../domain/jobs/dependencies.ts'
import { isAlive, type StateReason as Reason, stateCategory, toPsijState } from '../../../domain/state.ts'
import type { JobRow } from '../../../domain/submission/stored-job.ts'
import type { Dependency } from '../../../platform/generated/client.ts'
import { closureCost, positionCost, reasonCost } from '../../caller-limits.ts'
import { collectNamesBelow } from '../../operation.ts'
import { toConnection } from '../../rows/connection.ts'
import { formatEventsParent } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { DependencyOn, ExecutorKind, JobState, PsijState, StateCategory, StateReason } from '../frame/enums.ts'
import { exposeColumns, objectField, objectFieldOrNull, requireRow } from '../frame/fields.ts'
import { MoneyRef } from '../frame/money.ts'
import { CapacityReservationRef, JobRef, JobSessionRef, PoolRef, RunRef, SubmissionQueueRef } from '../frame/refs.ts'
import { ArtifactConnection } from './artifact.ts'
import { JobEventConnection } from './event.ts'
import { eventCursor, openEventsArgs, readEventCursor } from './event-cursor.ts'
import { isOrderedByShare, JobFairShare } from './fair-share.ts'
import { JobConnection, readNestedJobs } from './job-connection.ts'
import { JobSpecRef, LabelRef, ResourcesRef } from './job-spec.ts'
import { RunConnection } from './run.ts'
import { Scheduling } from './scheduling.ts'

const JobAction = builder.enumType('JobAction', {
  description: 'An action on a job.',
  values: describeValues({
    CANCEL: '`cancelJob`.',
    RETRY: '`retryJob`.',
    APPROVE: '`approveJob`.',
    REJECT: '`rejectJob`.',
    SET_PRIORITY: '`setJobPriority`.',
    DELETE: '`deleteJob`.',
    OPEN_SESSION: '`openSession`.',
    OPEN_FORWARD: '`openForward`.',
  }),
})

const Progress = builder.objectRef<JobRow & { progressAt: Date }>('Progress').implement({
  description: 'Progress reported by a job.',
  fields: (t) => ({
    fraction: t.exposeFloat('progressFraction', { nullable: true, description: '0 … 1.' }),
    message: t.exposeString('progressMessage', {
      nullable: true,
      description: 'Latest words of the job about its progress; null: none.',
    }),
    at: t.expose('progressAt', { type: 'DateTime', description: 'When the job reported the progress.' }),
  }),
})

const isDependencyOn = (text: string): text is typeof DependencyOn.$inferType =>
  ['SUCCEEDED', 'FAILED', 'FINISHED'].includes(text)

const DependencyRef = builder.objectRef<Dependency>('Dependency').implement({
  description: 'A job that must end before this one can start.',
  fields: (t) => ({
    job: objectField(t, 'onJobId', 'The job to wait for.', 'job'),
    on: t.field({
      type: DependencyOn,
      description: 'Required outcome of the job.',
      resolve: ({ on }) => (isDependencyOn(on) ? on : 'SUCCEEDED'),
    }),
    satisfied: t.boolean({
      nullable: true,
      description: 'Whether the condition holds; null: not decided yet.',
      resolve: async ({ on, onJobId }, _args, { load }) =>
        isSatisfied(on, (await requireRow(load.job.load(onJobId))).state),
    }),
  }),
})

const hasProgress = (job: JobRow): job is JobRow & { progressAt: Date } => job.progressAt !== null

builder.node(JobRef, {
  description: 'A submitted job: an immutable spec and the state of its last run.',
  id: { resolve: (job) => job.id, description: 'Global id, for `node`: job_…' },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.job.load(id))),
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String?', 'Name chosen by the submitter.'],
      stateInfo: ['String?', 'Explanation for humans.'],
      version: ['UInt53', '`seq` of the newest event.'],
      exitCode: ['Int?', 'Exit code of the last run; null: the command has not run or not ended.'],
      account: ['String', 'The account charged, the unit of fair share.'],
      project: ['String?', 'Project, for limits, reservations and filters; null: none.'],
      basePriority: [
        'Int',
        'Priority by the level of the user at submission: ADMIN 30, LEAD 20, RESEARCHER 10, VIEWER 0.',
      ],
      priorityOverride: ['Int?', 'Priority set by a user; null: none.'],
      estimatedCost: ['Float?', 'Cost estimated by the submitter.'],
      createdAt: ['DateTime', 'When the job was submitted.'],
      queuedAt: ['DateTime?', 'When the job was first QUEUED.'],
      eligibleAt: ['DateTime?', 'When all gates opened; the waiting time counts from here.'],
      startedAt: ['DateTime?', 'When a run first reached RUNNING.'],
      finishedAt: ['DateTime?', 'When the job reached a final state.'],
    }),
    labels: t.field({
      type: [LabelRef],
      description: 'Labels, at most 64.',
      resolve: async ({ id }, _args, { specs }) => (await specs.words.load(id)).labels,
    }),
    spec: t.field({
      type: JobSpecRef,
      nullable: true,
      description:
        'The spec. One request returns up to 1 MiB of specs, or one spec of any size; null: this one is over, with an error.',
      resolve: async ({ id, userId }, _args, { viewer, specs }, info) => ({
        ...(await specs.load(id, Math.max(...[...collectNamesBelow(info).values()].map(({ size }) => size)))),
        isOwner: userId === viewer.userId,
      }),
    }),
    state: t.expose('state', { type: JobState, description: 'Current state.' }),
    stateCategory: t.field({
      type: StateCategory,
      description: 'Category of the current state.',
      resolve: ({ state }) => stateCategory[state],
    }),
    stateReason: t.field({
      type: StateReason,
      nullable: true,
      description: 'Reason of the state; null: the state needs no reason.',
      resolve: ({ stateReason }) => stateReason as Reason | 'APPROVAL_PENDING' | null,
    }),
    psijState: t.field({
      type: PsijState,
      description: 'State in PSI/J terms.',
      resolve: ({ state, startedAt }) => toPsijState(state, startedAt !== null),
    }),
    user: objectField(t, 'userId', 'The submitter.'),
    team: objectFieldOrNull(t, 'teamId', 'Team of the job; null: none.'),
    capacityReservation: t.field({
      type: CapacityReservationRef,
      nullable: true,
      description: 'The capacity reservation that the job runs in; null: none, or it was deleted.',
      async resolve({ id }, _args, { load, specs }) {
        const { capacityReservationId } = await specs.words.load(id)
        return capacityReservationId === null ? null : load.capacityReservation.load(capacityReservationId)
      },
    }),
    executor: t.expose('executor', { type: ExecutorKind, description: 'What runs the job.' }),
    pool: t.field({
      type: PoolRef,
      description: 'The pool whose nodes run the job.',
      resolve: ({ pool: name }) => ({ name }),
    }),
    queue: t.field({
      type: SubmissionQueueRef,
      description: 'Submission queue that the job was submitted to.',
      resolve: ({ queue: name }) => ({ name }),
    }),
    nativeId: t.string({
      nullable: true,
      description: 'Id of the last run in the backend.',
      resolve: async (job, _args, { load }) => (await load.currentRun.load(job)).nativeId,
    }),
    priority: t.int({
      nullable: true,
      description:
        'Current priority, higher first: `priorityOverride` if set, otherwise `basePriority` raised by waiting time; null: the pool orders by `fairShare`.',
      async resolve(job, _args, { load }) {
        if (await isOrderedByShare(job, load)) return null
        const now = job.state === 'QUEUED' ? await load.priorityNow.load(job.id) : null
        return now ?? job.priorityOverride ?? job.basePriority
      },
    }),
    fairShare: t.field({
      type: JobFairShare,
      nullable: true,
      description: 'Queue order in a pool with policy FAIR_SHARE; null: the pool has another policy, or the job ended.',
      resolve: ({ id, state }, _args, { load }) => (isAlive(state) ? load.fairShare.load(id) : null),
    }),
    attempt: t.exposeInt('runNumber', { description: 'Number of the last run, from 1.' }),
    maxAttempts: t.int({
      description: 'Maximum number of runs whose command failed.',
      resolve: async ({ id }, _args, { specs }) => (await specs.words.load(id)).maxAttempts ?? 1,
    }),
    resources: t.field({
      type: ResourcesRef,
      nullable: true,
      description: 'Requested resources, also in long lists; null: the job was deleted meanwhile.',
      resolve: async ({ id }, _args, { specs }) => (await specs.words.load(id)).resources,
    }),
    maxRunTimeSeconds: t.float({
      nullable: true,
      description: 'Maximum duration of a run in seconds, also in long lists; null: unlimited.',
      resolve: async ({ id }, _args, { specs }) => (await specs.words.load(id)).maxRunTimeSeconds || null,
    }),
    cost: t.field({
      type: MoneyRef,
      nullable: true,
      description: 'Cost of the runs by the rates of the pool; null: the job is not final, or the pool had no rates.',
      resolve: ({ state, cost, pool }) => (cost === null || isAlive(state) ? null : { amount: cost, pool }),
    }),
    progress: t.field({
      type: Progress,
      nullable: true,
      description: 'Last progress reported by the job; null: none.',
      resolve: (job) => (hasProgress(job) ? job : null),
    }),
    artifacts: t.field({
      type: ArtifactConnection,
      description: 'Artifacts that the runs of the job published, oldest first.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async (job, args, { load }) =>
        toConnection(await load.artifactsOfJob.load(job.id, args), (ids) => load.artifact.loadMany(ids)),
    }),
    sessions: t.field({
      type: [JobSessionRef],
      description: 'The newest sessions in the job, open and ended, at most 100.',
      complexity: { multiplier: sessionsListedMax },
      resolve: ({ id }, _args, { load }) => load.sessionsOfJob.load(id),
    }),
    snapshot: objectFieldOrNull(t, 'snapshotId', 'The files that each run of the job begins with; null: none.'),
    closure: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'The newest closure that the job saved, for its next run to continue from; null: none.',
      complexity: closureCost,
      resolve: async ({ id }, _args, { load }) => (await load.closure.load(id))?.body ?? null,
    }),
    allowedActions: t.field({
      type: [JobAction],
      description: 'Actions that you may take now.',
      async resolve(job, _args, { viewer, load, domain: { singleUser } }) {
        const approval = job.state === 'BLOCKED' ? await load.approvalOfJob.load(job.id) : null
        const left = isAlive(job.state) ? null : await load.leftOfJob.load(job.id)
        const policy = (await isOrderedByShare(job, load)) ? 'FAIR_SHARE' : 'PRIORITY'
        const permitsSessions = (await load.pool.load(job.pool))?.exec ?? false
        const sharesTeam = (await load.teamsOfUser.load(viewer.userId)).some(({ teamId }) => teamId === job.teamId)
        return listAllowedActions(viewer, { ...job, approval, left, policy, permitsSessions, sharesTeam }, singleUser)
      },
    }),
    runs: t.field({
      type: RunConnection,
      description: 'Runs of the job, ordered by number.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async (job, args, { load }) =>
        toConnection(await load.runsOfJob.load(job.id, args), (ids) => load.run.loadMany(ids)),
    }),
    currentRun: t.field({
      type: RunRef,
      description: 'The last run.',
      resolve: (job, _args, { load }) => load.currentRun.load(job),
    }),
    events: t.field({
      type: JobEventConnection,
      description:
        'Events of the job up to its `version` in this response, ordered by `seq`. The cursors also work for `jobStatus`.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: async (job, args, { load }) =>
        toConnection(
          await load.eventsOfJob.load(formatEventsParent(job), await openEventsArgs(job, args, load)),
          (ids) => load.event.loadMany(ids),
          eventCursor,
        ),
    }),
    dependencies: t.field({
      type: [DependencyRef],
      description: 'The dependencies with their conditions, at most 100.',
      resolve: async (job, _args, { load, viewer }) => {
        const all = await load.dependencies.load(job.id)
        const jobs = await Promise.all(all.map(({ onJobId }) => load.job.load(onJobId)))
        return all.filter((_, index) => jobs[index] && maySee(viewer, jobs[index]))
      },
    }),
    dependents: t.field({
      type: JobConnection,
      description: 'Jobs that depend on this job.',
      args: t.arg.connectionArgs(),
      complexity: pageCost,
      resolve: (job, args, context) => readNestedJobs(context, context.load.dependents, { parent: job.id, args }),
    }),
    scheduling: t.field({
      type: Scheduling,
      nullable: true,
      description: 'Why the job waits; null unless QUEUED or BLOCKED.',
      complexity: reasonCost,
      async resolve({ id, state }, _args, { load }) {
        const waiting = stateCategory[state] === 'WAITING' ? await load.waiting.load(id) : null
        return waiting && { ...waiting, jobId: id }
      },
    }),
    position: t.int({
      nullable: true,
      description: 'Position among the QUEUED jobs of the pool, from 1; null unless QUEUED.',
      complexity: positionCost,
      resolve: async ({ id, state }, _args, { load }) =>
        state === 'QUEUED' ? ((await load.position.load(id))?.position ?? null) : null,
    }),
    eventCursor: t.field({
      type: 'Cursor',
      description: 'Cursor for jobStatus(after:) that continues exactly after this snapshot.',
      resolve: (job, _args, { load }) => readEventCursor(job, load),
    }),
  }),
})
