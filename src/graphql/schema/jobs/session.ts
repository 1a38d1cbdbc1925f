import { endSession, openCommand, openPort, sessionsPerUserMax, type Ticket } from '../../../domain/control/sessions.ts'
import { InvalidState, NotFound, QuotaExceeded } from '../../../domain/errors.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { sessionPath } from '../../rows/session-path.ts'
import { builder } from '../frame/builder.ts'
import { edge, edgeOrNull, loadOfVisibleJobs, show } from '../frame/fields.ts'
import { declareResult } from '../frame/mutation-result.ts'
import { JobSessionRef } from '../frame/refs.ts'

builder.node(JobSessionRef, {
  description: 'A command that a person runs in a running job, or a port of it that is forwarded to a person.',
  id: { resolve: (session) => session.id, description: 'Global id, for `node`: session_…' },
  loadMany: (ids, { load }) => loadOfVisibleJobs(load, load.session, ids),
  fields: (t) => ({
    ...show(t, {
      command: ['[String]', 'Words of the command, at most 1,000; empty: a login shell, or a port.'],
      port: ['Int?', 'The forwarded port; null: the session is a command.'],
      tty: ['Boolean', 'Whether the command has a terminal.'],
      ip: ['String?', 'Address of the caller; null: unknown.'],
      isOpen: ['Boolean', 'false: the session is over, or its ticket was not used in time.'],
      createdAt: ['DateTime', 'When the session was requested.'],
      openedAt: ['DateTime?', 'When its ticket was used; null: not yet, or never.'],
      endedAt: ['DateTime?', 'When it ended; null: not stored.'],
      endReason: ['String?', 'Why it ended, as a sentence.'],
      exitCode: ['Int?', 'Exit code of the command; null: unknown.'],
      bytesIn: ['UInt53', 'Number of bytes that were typed or sent to the job.'],
      bytesOut: ['UInt53', 'Bytes from the job.'],
    }),
    job: edge(t, 'jobId', 'The running job that the session entered.'),
    run: edge(t, 'runId', 'The run that the session entered.'),
    openedBy: edgeOrNull(t, 'userId', 'The user who opened the session; null: you may not see that user.'),
  }),
})

const declareOpened = (mutation: 'OpenSession' | 'OpenForward', description: string) =>
  declareResult(
    mutation,
    builder.objectRef<Ticket>(`${mutation}Success`).implement({
      description,
      fields: (t) => ({
        session: edge(t, 'sessionId', 'The session, which begins when the ticket is used.'),
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
    session: edge(t, 'id', 'The session. Its server ends it within a few seconds.', 'session'),
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
