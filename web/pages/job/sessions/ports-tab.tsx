import { useState } from 'react'
import { CloseSessionDocument, OpenPortDocument, OpenSessionsDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { noteOpenedPort } from '../../../ground/opened-ports.ts'
import { useResource } from '../../../ground/resource.ts'
import { useStart } from '../../../ground/server-facts.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { Form, type Refusal, refusal, TextField } from '../../../parts/form.tsx'
import { formatBytes } from '../../../parts/format.ts'
import { Empty, FailedInline } from '../../../parts/page-states.tsx'
import { isRefused, toRefusal } from '../../../parts/refusal.ts'
import { type Column, Table } from '../../../parts/table.tsx'
import { Time } from '../../../parts/time.tsx'
import styles from '../spec-tab.module.css'
import type { PageJob } from '../use-job.ts'

const lookMs = 5_000

/** Lists the ports on which the job listens, each with a link or a `berth` command, and the open sessions. */
export function PortsTab({ job }: { job: PageJob }) {
  const { jobsHost } = useStart()
  const [port, setPort] = useState('8888')
  const sessions = useResource(`sessions ${job.id}`, (signal) => readSessions(job.id, signal), {
    everyMs: lookMs,
    isOff: job.state !== 'RUNNING',
  })
  if (job.state !== 'RUNNING') return <Empty title="The job is not running">Its ports are reached while it runs.</Empty>
  const open = async (): Promise<Refusal | null> => {
    const found = await openPort(job.id, Number(port), jobsHost)
    sessions.read()
    return found
  }
  const rows = sessions.value ?? []
  const field = (
    <TextField
      label="Port of the job"
      help="The port that a program of the job listens on, for example 8888 for a notebook."
      inputMode="numeric"
      value={port}
      onChange={setPort}
    />
  )
  return (
    <section className={styles.box} aria-label="Ports">
      <div className={styles.narrow}>
        {jobsHost === null ? (
          <ForwardCommand command={`berth forward ${job.id} ${port} --open`}>{field}</ForwardCommand>
        ) : (
          <Form submitText="Open" onSubmit={open}>
            {field}
            <p>
              Opens <code>{nameOrigin(job.id, port, jobsHost)}</code>. It works in this browser until the run ends, you
              log out, or nothing is requested for four hours.
            </p>
          </Form>
        )}
      </div>
      {sessions.failure && <FailedInline failure={sessions.failure} onRetry={sessions.read} />}
      {rows.length > 0 && (
        <>
          <h3 className={styles.heading}>Open sessions in this job</h3>
          <Table label="Open sessions" columns={listColumns(sessions.read)} rows={rows} getKey={({ id }) => id} />
        </>
      )}
    </section>
  )
}

const ForwardCommand = ({ command, children }: { command: string; children: React.ReactNode }) => (
  <>
    {children}
    <p>This command forwards a port of your machine to it:</p>
    <pre className={styles.text}>
      {command} <CopyButton text={command} what="command" />
    </pre>
    <p className={styles.filled}>
      With <code>server.jobsHost</code> in the configuration of the server, a port opens from here.
    </p>
  </>
)

type Session = Awaited<ReturnType<typeof readSessions>>[number]

async function readSessions(id: string, signal: AbortSignal) {
  const { job } = await client.request(OpenSessionsDocument, { id }, { signal })
  return job?.sessions.filter(({ isOpen, openedAt }) => isOpen && openedAt !== null) ?? []
}

const nameOrigin = (jobId: string, port: string, jobsHost: string) => {
  const own = location.port === '' ? '' : `:${location.port}`
  return `${location.protocol}//${jobId.replace('job_', '')}-${port}.${jobsHost}${own}`
}

/** Opens the new tab before the request, because browsers block tabs that open after a response. */
async function openPort(jobId: string, port: number, jobsHost: string | null): Promise<Refusal | null> {
  if (!Number.isInteger(port)) return refusal('The port is a number, 1 … 65,535')
  const page = window.open('', '_blank')
  if (page) page.opener = null
  try {
    const { openForward } = await client.request(OpenPortDocument, { input: { jobId, port } })
    if (isRefused(openForward)) {
      page?.close()
      return toRefusal(openForward)
    }
    noteOpenedPort(openForward.session.id)
    const ticket = openForward.url.replace(/^.*\//, '')
    const address = `${nameOrigin(jobId, String(port), jobsHost ?? '')}/.berth/${ticket}`
    if (!page) return refusal('The browser blocked the new tab; allow pop-ups of this page')
    page.location.replace(address)
    return null
  } catch (error) {
    page?.close()
    throw error
  }
}

const listColumns = (read: () => void): readonly Column<Session>[] => [
  {
    title: 'What',
    cell: ({ port, command }) => (port === null ? <code>{command.join(' ') || 'login shell'}</code> : `Port ${port}`),
  },
  { title: 'Who', cell: ({ openedBy }) => openedBy?.name },
  { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'To the job', isNumber: true, cell: ({ bytesIn }) => formatBytes(bytesIn) },
  { title: 'From the job', isNumber: true, cell: ({ bytesOut }) => formatBytes(bytesOut) },
  {
    title: '',
    cell: ({ id }) => (
      <Button
        look="quiet"
        onClick={() => void client.request(CloseSessionDocument, { input: { sessionId: id } }).then(read, read)}
      >
        End
      </Button>
    ),
  },
]
