import { builder } from '../builder.ts'
import { connectionType } from '../connection-type.ts'
import { JobEventRef, JobRef, UserRef } from '../refs.ts'
import { eventId, parseEventId } from '../typed-id.ts'
import { JobState, PsijState } from './enums.ts'
import { seen } from './problem.ts'

builder.node(JobEventRef, {
  description: 'One numbered change of one job: `seq` is 1, 2, 3 … without a gap.',
  id: { resolve: (event) => eventId(event), description: 'event_…' },
  // An event is as visible as its job.
  loadMany: (ids, { load }) =>
    Promise.all(
      ids.map(async (id) => {
        const key = parseEventId(id)
        return key && (await load.job.load(key.jobId)) ? load.event.load(id) : null
      }),
    ),
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: (event, _args, { load }) => seen(load.job.load(event.jobId)),
    }),
    seq: t.expose('seq', { type: 'UInt53', description: "Place in the job's history." }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened, by the clock of the database.' }),
    type: t.exposeString('type', { description: 'CREATED, STATE_CHANGED, LATE_REPORT …' }),
    from: t.expose('from', { type: JobState, nullable: true, description: 'State before.' }),
    to: t.expose('to', { type: JobState, nullable: true, description: 'State after.' }),
    psijState: t.expose('psijState', {
      type: PsijState,
      nullable: true,
      description: "What PSI/J's view becomes; null: it does not change.",
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why, as a code.' }),
    message: t.exposeString('message', { nullable: true, description: 'The same as a sentence.' }),
    exitCode: t.exposeInt('exitCode', { nullable: true, description: 'Exit code, where the event knows one.' }),
    run: t.exposeInt('run', { nullable: true, description: 'Number of the run it speaks of.' }),
    actor: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who caused it; null: the system.',
      resolve: ({ actorId }, _args, { load }) => (actorId === null ? null : load.user.load(actorId)),
    }),
    metadata: t.expose('metadata', {
      type: 'JSONObject',
      nullable: true,
      description:
        'Further facts. Of a change of state: nativeId is the name that the backend gave the run, requeued is true where the job waits for another run.',
    }),
  }),
})

export const JobEventConnection = connectionType('JobEvent', JobEventRef)
