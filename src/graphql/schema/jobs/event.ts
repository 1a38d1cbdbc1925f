import { eventId, parseEventId } from '../../rows/typed-id.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { JobEventType, JobState, PsijState, StateReason } from '../frame/enums.ts'
import { exposeColumns, objectField, objectFieldOrNull } from '../frame/fields.ts'
import { JobEventRef, RunRef } from '../frame/refs.ts'
import { JobEventDetail, readDetail } from './event-detail.ts'

builder.node(JobEventRef, {
  description: 'A recorded change of a job. `seq` counts 1, 2, 3 … without gaps.',
  id: { resolve: (event) => eventId(event), description: 'Global id, for `node`: event_…' },
  // An event is as visible as its job.
  loadMany: (ids, { load }) =>
    Promise.all(
      ids.map(async (id) => {
        const key = parseEventId(id)
        return key && (await load.job.load(key.jobId)) ? load.event.load(id) : null
      }),
    ),
  fields: (t) => ({
    ...exposeColumns(t, {
      seq: ['UInt53', 'Number of the event in the history of the job, from 1.'],
      at: ['DateTime', 'Time of the event, by the database clock.'],
      message: ['String?', 'Explanation for humans.'],
      exitCode: ['Int?', 'Exit code; null: the event reports no exit code.'],
    }),
    job: objectField(t, 'jobId', 'The job that changed.'),
    type: t.expose('type', { type: JobEventType, description: 'Kind of event.' }),
    from: t.expose('from', { type: JobState, nullable: true, description: 'Previous state.' }),
    to: t.expose('to', { type: JobState, nullable: true, description: 'New state.' }),
    psijState: t.expose('psijState', {
      type: PsijState,
      nullable: true,
      description: 'New state in PSI/J terms; null: unchanged.',
    }),
    stateReason: t.expose('reason', {
      type: StateReason,
      nullable: true,
      description: 'Why the job has its new state.',
    }),
    runNumber: t.exposeInt('run', {
      nullable: true,
      description: 'Number of the affected run; null: the event affects no run.',
    }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: 'The affected run; null: the event affects no run.',
      resolve: ({ jobId, run }, _args, { load }) => (run === null ? null : load.runByNumber.load(`${jobId}/${run}`)),
    }),
    actor: objectFieldOrNull(t, 'actorId', 'The user who caused the event; null: the system.', 'user'),
    detail: t.field({
      type: JobEventDetail,
      nullable: true,
      description: 'Details, by the type of the event; null: none.',
      resolve: readDetail,
    }),
  }),
})

export const JobEventConnection = declareConnection('JobEvent', JobEventRef)
