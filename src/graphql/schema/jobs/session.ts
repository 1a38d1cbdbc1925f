import { endSession, openCommand, openPort, sessionsPerUserMax, type Ticket } from '../../../domain/control/sessions.ts'
import { InvalidState, NotFound, QuotaExceeded } from '../../../domain/errors.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { sessionPath } from '../../rows/session-path.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns, loadWithVisibleJob, objectField, objectFieldOrNull } from '../frame/fields.ts'
import { declareMutation, type InputFields } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { JobSessionRef } from '../frame/refs.ts'

builder.node(JobSessionRef, {
  description: 'A command that a person runs in a running job, or a port of it that is forwarded to a person.',
  id: { resolve: (session) => session.id, description: 'Global id, for `node`: session_…' },
  loadMany: (ids, { load }) => loadWithVisibleJob(load, load.session, ids),
  fields: (t) => ({
    ...exposeColumns(t, {
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
    job: objectField(t, 'jobId', 'The running job that the session entered.'),
    run: objectField(t, 'runId', 'The run that the session entered.'),
    openedBy: objectFieldOrNull(t, 'userId', 'The user who opened the session; null: you may not see that user.'),
  }),
})

const openProblems = [NotFound, InvalidState, QuotaExceeded]
const describeOpened = (description: string) => ({
  description,
  fields: (t: SuccessFields<Ticket>) => ({
    session: objectField(t, 'sessionId', 'The session, which begins when the ticket is used.'),
    url: t.string({
      description:
        'The address below that of the server, for one WebSocket, with a ticket that works once. Keep it secret.',
      resolve: ({ ticket }) => `${sessionPath}${ticket}`,
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when the ticket works.' }),
  }),
})

const TerminalSize = builder.inputType('TerminalSize', {
  description: 'Size of a terminal in characters.',
  fields: (t) => ({
    columns: t.int({ required: true, description: 'Width, 1 … 9,999.' }),
    rows: t.int({ required: true, description: 'Height, 1 … 9,999.' }),
  }),
})

const runningJob = (t: InputFields) => ({
  jobId: t.id({ required: true, description: 'The running job: job_…' }),
  run: t.int({ description: 'Number of the run (default: the current run). Only the current run can be running.' }),
})

declareMutation('openSession', {
  description: `Permits a command in a running job. A user can have ${sessionsPerUserMax} sessions.`,
  input: {
    argumentDescription: 'The command.',
    description: 'The command to run.',
    fields: (t) => ({
      ...runningJob(t),
      command: t.stringList(capList(1_000, 'Words of the command (default: a login shell)')),
      size: t.field({
        type: TerminalSize,
        description:
          'Gives the command a terminal of this size (default: no terminal, but separate stdout and stderr).',
      }),
    }),
  },
  success: describeOpened('The command may begin.'),
  problems: openProblems,
  resolve: (input, { domain, viewer }) => openCommand(domain, viewer, input),
})

declareMutation('openForward', {
  description: 'Permits connections to a port of a running job. It is a session like those of `openSession`.',
  input: {
    argumentDescription: 'The port.',
    description: 'The port to reach.',
    fields: (t) => ({
      ...runningJob(t),
      port: t.int({ required: true, description: 'A port on which the job listens, 1 … 65,535.' }),
    }),
  },
  success: describeOpened('Connections to the port may begin.'),
  problems: openProblems,
  resolve: (input, { domain, viewer }) => openPort(domain, viewer, input),
})

declareMutation('endSession', {
  description: 'Ends a session: an own one, or one of a job in which you may open sessions.',
  input: {
    argumentDescription: 'The session.',
    description: 'The session to end.',
    fields: (t) => ({ sessionId: t.id({ required: true, description: 'Id of an open session: session_…' }) }),
  },
  success: {
    description: 'The session ends.',
    fields: (t) => ({
      session: objectField(t, 'id', 'The session. Its server ends it within a few seconds.', 'session'),
    }),
  },
  problems: [NotFound],
  refusesInput: false,
  resolve: ({ sessionId }, { domain, viewer }) => endSession(domain, viewer, sessionId),
})
