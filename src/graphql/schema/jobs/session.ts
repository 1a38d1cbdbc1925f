import { endSession, openCommand, openPort, sessionsPerUserMax, type Ticket } from '../../../domain/control/sessions.ts'
import { InvalidState, NotFound, QuotaExceeded } from '../../../domain/errors.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { sessionPath } from '../../rows/session-path.ts'
import { builder } from '../frame/builder.ts'
import { declareResult } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'
import { JobRef, JobSessionRef, RunRef, UserRef } from '../frame/refs.ts'

builder.node(JobSessionRef, {
  description: 'A command that a person runs in a running job, or a port of it that is forwarded to a person.',
  id: { resolve: (session) => session.id, description: 'Global id, for `node`: session_…' },
  // A session is as visible as its job.
  async loadMany(ids, { load }) {
    const sessions = await Promise.all(ids.map((id) => load.session.load(id)))
    return Promise.all(
      sessions.map(async (session) => (session && (await load.job.load(session.jobId)) ? session : null)),
    )
  },
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The running job that the session entered.',
      resolve: ({ jobId }, _args, { load }) => requireRow(load.job.load(jobId)),
    }),
    run: t.field({
      type: RunRef,
      description: 'The run that the session entered.',
      resolve: ({ runId }, _args, { load }) => requireRow(load.run.load(runId)),
    }),
    openedBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who opened the session; null: you may not see that user.',
      resolve: ({ userId }, _args, { load }) => load.user.load(userId),
    }),
    command: t.exposeStringList('command', {
      description: 'Words of the command, at most 1,000; empty: a login shell, or a port.',
    }),
    port: t.exposeInt('port', { nullable: true, description: 'The forwarded port; null: the session is a command.' }),
    tty: t.exposeBoolean('tty', { description: 'Whether the command has a terminal.' }),
    ip: t.exposeString('ip', { nullable: true, description: 'Address of the caller; null: unknown.' }),
    isOpen: t.exposeBoolean('isOpen', {
      description: 'false: the session is over, or its ticket was not used in time.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the session was requested.' }),
    openedAt: t.expose('openedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its ticket was used; null: not yet, or never.',
    }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null: not stored.' }),
    endReason: t.exposeString('endReason', { nullable: true, description: 'Why it ended, as a sentence.' }),
    exitCode: t.exposeInt('exitCode', { nullable: true, description: 'Exit code of the command; null: unknown.' }),
    bytesIn: t.expose('bytesIn', {
      type: 'UInt53',
      description: 'Number of bytes that were typed or sent to the job.',
    }),
    bytesOut: t.expose('bytesOut', { type: 'UInt53', description: 'Bytes from the job.' }),
  }),
})

const declareOpened = (mutation: 'OpenSession' | 'OpenForward', description: string) =>
  declareResult(
    mutation,
    builder.objectRef<Ticket>(`${mutation}Success`).implement({
      description,
      fields: (t) => ({
        session: t.field({
          type: JobSessionRef,
          description: 'The session, which begins when the ticket is used.',
          resolve: ({ sessionId }, _args, { load }) => requireRow(load.session.load(sessionId)),
        }),
        url: t.string({
          description:
            'The address below that of the server, for one WebSocket, with a ticket that works once. Keep it secret.',
          resolve: ({ ticket }) => `${sessionPath}${ticket}`,
        }),
        expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when the ticket works.' }),
      }),
    }),
    [NotFound, InvalidState, QuotaExceeded],
  )

const TerminalSize = builder.inputType('TerminalSize', {
  description: 'Size of a terminal in characters.',
  fields: (t) => ({
    columns: t.int({ required: true, description: 'Width, 1 … 9,999.' }),
    rows: t.int({ required: true, description: 'Height, 1 … 9,999.' }),
  }),
})

const runField = 'Number of the run (default: the current run). Only the current run can be running.'

const OpenSessionInput = builder.inputType('OpenSessionInput', {
  description: 'The command to run.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The running job: job_…' }),
    run: t.int({ description: runField }),
    command: t.stringList(capList(1_000, 'Words of the command (default: a login shell)')),
    size: t.field({
      type: TerminalSize,
      description: 'Gives the command a terminal of this size (default: no terminal, but separate stdout and stderr).',
    }),
  }),
})

builder.mutationField('openSession', (t) =>
  t.field({
    type: declareOpened('OpenSession', 'The command may begin.'),
    description: `Permits a command in a running job. A user can have ${sessionsPerUserMax} sessions.`,
    args: { input: t.arg({ type: OpenSessionInput, required: true, description: 'The command.' }) },
    resolve: (_root, { input }, { domain, viewer }) => openCommand(domain, viewer, input),
  }),
)

const OpenForwardInput = builder.inputType('OpenForwardInput', {
  description: 'The port to reach.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The running job: job_…' }),
    run: t.int({ description: runField }),
    port: t.int({ required: true, description: 'A port on which the job listens, 1 … 65,535.' }),
  }),
})

builder.mutationField('openForward', (t) =>
  t.field({
    type: declareOpened('OpenForward', 'Connections to the port may begin.'),
    description: 'Permits connections to a port of a running job. It is a session like those of `openSession`.',
    args: { input: t.arg({ type: OpenForwardInput, required: true, description: 'The port.' }) },
    resolve: (_root, { input }, { domain, viewer }) => openPort(domain, viewer, input),
  }),
)

const EndSessionSuccess = builder.objectRef<{ id: string }>('EndSessionSuccess').implement({
  description: 'The session ends.',
  fields: (t) => ({
    session: t.field({
      type: JobSessionRef,
      description: 'The session. Its server ends it within a few seconds.',
      resolve: ({ id }, _args, { load }) => requireRow(load.session.load(id)),
    }),
  }),
})

const EndSessionInput = builder.inputType('EndSessionInput', {
  description: 'The session to end.',
  fields: (t) => ({ sessionId: t.id({ required: true, description: 'Id of an open session: session_…' }) }),
})

builder.mutationField('endSession', (t) =>
  t.field({
    type: declareResult('EndSession', EndSessionSuccess, [NotFound], { refusesInput: false }),
    description: 'Ends a session: an own one, or one of a job in which you may open sessions.',
    args: { input: t.arg({ type: EndSessionInput, required: true, description: 'The session.' }) },
    resolve: (_root, { input }, { domain, viewer }) => endSession(domain, viewer, input.sessionId),
  }),
)
