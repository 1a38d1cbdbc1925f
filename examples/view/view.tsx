import { type Client, type LiveJobFragment, type RequestFailed, ServerInfoDocument } from '@berth-jobs/berth/client'
import { type FormEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { ago, lasted, stateWord, titleOf } from './format.ts'
import type { JobState, ShownJobFragment as ShownJob } from './generated/operations.ts'
import colours from './samples/colours.sh?raw'
import failure from './samples/failure.sh?raw'
import progress from './samples/progress.sh?raw'
import { type Trouble, TroubleBox } from './trouble.tsx'

/** Components of both pages. They know neither Apollo nor urql. */

export function Frame({
  client,
  outage,
  children,
}: {
  client: string
  outage: RequestFailed | null
  children: ReactNode
}) {
  return (
    <>
      <header>
        <h1>Berth</h1>
        <span className="client">{client}</span>
        <span className={outage ? 'link away' : 'link'} role="status">
          {outage ? 'Reconnecting…' : 'Live'}
        </span>
      </header>
      {outage && (
        <p className="outage">
          {outage.message}. What you see is from before; it is brought up to date as soon as the server is back.
        </p>
      )}
      <main>{children}</main>
    </>
  )
}

const samples = { Colours: colours, Progress: progress, Failure: failure }

/** Gives the answer's trouble, or null when the job is accepted. */
export type Submit = (job: { name: string; script: string }) => Promise<Trouble | null>

export function SubmitForm({ onSubmit }: { onSubmit: Submit }) {
  const [name, setName] = useState('')
  const [script, setScript] = useState('')
  const { run, isBusy, trouble, dismiss } = useAction(async () => {
    const trouble = await onSubmit({ name, script })
    if (!trouble) {
      setScript('')
      setName('')
    }
    return trouble
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run()
  }
  return (
    <form className="submit" onSubmit={submit}>
      <label className="script">
        Shell script
        <textarea
          required
          rows={4}
          spellCheck={false}
          placeholder="make test"
          value={script}
          onChange={({ target }) => setScript(target.value)}
          onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit(event)}
        />
      </label>
      <div className="row">
        <label>
          Name
          <input placeholder="optional" value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <span className="samples">
          Try
          {Object.entries(samples).map(([label, text]) => (
            <button
              key={label}
              type="button"
              className="quiet"
              onClick={() => {
                setScript(text.trimEnd())
                setName(label.toLowerCase())
              }}
            >
              {label}
            </button>
          ))}
        </span>
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? 'Submitting…' : 'Submit job'}
        </button>
      </div>
      <TroubleBox trouble={trouble} onDismiss={dismiss} />
    </form>
  )
}

interface JobTableProps {
  jobs: readonly LiveJobFragment[]
  hasMore: boolean
  selectedId: string | null
  onMore: () => void
}

export function JobTable({ jobs, hasMore, selectedId, onMore }: JobTableProps) {
  const nowMs = useNow()
  if (jobs.length === 0)
    return (
      <p className="empty">
        <strong>No jobs yet</strong>
        Write a script above, or try one of the three, and watch it here.
      </p>
    )
  return (
    <div className="list">
      <table>
        <caption>
          Jobs <span>{hasMore ? `the newest ${jobs.length}` : jobs.length}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Job</th>
            <th scope="col" className="wide">
              Owner
            </th>
            <th scope="col" className="wide number">
              Priority
            </th>
            <th scope="col" className="wide number">
              Ran
            </th>
            <th scope="col" className="number">
              Submitted
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id} id={job.id} data-version={job.version} className={job.id === selectedId ? 'selected' : ''}>
              <td>
                <State state={job.state} />
              </td>
              <th scope="row">
                <a href={`#${job.id}`} aria-current={job.id === selectedId ? 'true' : undefined}>
                  {titleOf(job)}
                </a>
                {job.name && <small>{job.id}</small>}
                {job.state === 'RUNNING' && <Progress job={job} />}
              </th>
              <td className="wide">{job.user.name}</td>
              <td className="wide number">{job.priority}</td>
              <td className="wide number">{job.startedAt ? lasted(job.startedAt, job.finishedAt, nowMs) : ''}</td>
              <td className="number">
                <Time time={job.createdAt} nowMs={nowMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore && (
        <button type="button" className="quiet" onClick={onMore}>
          Show more
        </button>
      )}
    </div>
  )
}

export const State = ({ state }: { state: JobState }) => (
  <span className={`state ${state.toLowerCase()}`}>{stateWord(state)}</span>
)

const Time = ({ time, nowMs }: { time: string; nowMs: number }) => (
  <time dateTime={time} title={new Date(time).toLocaleString()}>
    {ago(time, nowMs)}
  </time>
)

function Progress({ job: { progress } }: { job: Pick<LiveJobFragment, 'progress'> | Pick<ShownJob, 'progress'> }) {
  if (!progress) return null
  const percent = progress.fraction === null ? null : Math.round(progress.fraction * 100)
  return (
    <span className="progress">
      <progress max={100} value={percent ?? undefined} aria-label="Progress" />
      <small>{[percent === null ? null : `${percent} %`, progress.message].filter(Boolean).join(' · ')}</small>
    </span>
  )
}

interface JobPanelProps {
  job: ShownJob
  onCancel: () => Promise<Trouble | null>
  onDelete: () => Promise<Trouble | null>
  /** The output. */
  children: ReactNode
}

export function JobPanel({ job, onCancel, onDelete, children }: JobPanelProps) {
  const nowMs = useNow()
  const { run, isBusy, trouble, dismiss } = useAction((action: () => Promise<Trouble | null>) => action())
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <section className="panel" aria-labelledby="job">
      <Back />
      <div className="title">
        <h2 id="job" ref={heading} tabIndex={-1}>
          {titleOf(job)}
        </h2>
        <State state={job.state} />
        <span className="actions">
          {job.allowedActions.includes('CANCEL') && (
            <button type="button" disabled={isBusy} onClick={() => run(onCancel)}>
              Cancel
            </button>
          )}
          {job.allowedActions.includes('DELETE') && (
            <button type="button" className="danger" disabled={isBusy} onClick={() => run(onDelete)}>
              Delete
            </button>
          )}
        </span>
      </div>
      <TroubleBox trouble={trouble} onDismiss={dismiss} />
      {job.stateInfo && <p className="info">{job.stateInfo}</p>}
      {job.state === 'RUNNING' && <Progress job={job} />}
      <dl>
        <Fact name="Owner">{job.user.name}</Fact>
        <Fact name="Pool">{job.pool.name}</Fact>
        <Fact name="Priority">{job.priority}</Fact>
        {job.maxAttempts > 1 && <Fact name="Attempt">{`${job.attempt} of ${job.maxAttempts}`}</Fact>}
        {job.startedAt && <Fact name="Ran">{lasted(job.startedAt, job.finishedAt, nowMs)}</Fact>}
        {job.exitCode !== null && <Fact name="Exit code">{job.exitCode}</Fact>}
      </dl>
      <h3>Output</h3>
      {children}
      <h3>Events</h3>
      <ol className="events">
        {job.events.nodes.map(({ seq, at, type, to, message }) => (
          <li key={seq}>
            <span>{to ? stateWord(to) : wordsOf(type)}</span>
            {message && <small>{message}</small>}
            <Time time={at} nowMs={nowMs} />
          </li>
        ))}
      </ol>
    </section>
  )
}

const Back = () => (
  <a className="back" href="#jobs">
    ← All jobs
  </a>
)

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** PRIORITY_CHANGED: "Priority changed". */
const wordsOf = (type: string) => type.charAt(0) + type.slice(1).toLowerCase().replaceAll('_', ' ')

export const Gone = () => (
  <section className="panel">
    <Back />
    <p className="empty">
      <strong>This job was deleted</strong>
      Its events and its output went with it.
    </p>
  </section>
)

/** An action of a button: one at a time, and the trouble of the last one. */
function useAction<Args extends unknown[]>(action: (...args: Args) => Promise<Trouble | null>) {
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const run = async (...args: Args) => {
    setBusy(true)
    setTrouble(await action(...args))
    setBusy(false)
  }
  return { run, isBusy, trouble, dismiss: () => setTrouble(null) }
}

/** The job that the address of the page names, so links, the keyboard and the back button need no code. */
export function useSelectedId(): string | null {
  const hash = useSyncExternalStore(
    (changed) => {
      addEventListener('hashchange', changed)
      return () => removeEventListener('hashchange', changed)
    },
    () => location.hash,
  )
  return hash.startsWith('#job_') ? hash.slice(1) : null
}

/** How far the server's clock is ahead of the browser's, which may be hours off. */
let aheadMs = 0
const serverMs = () => Date.now() + aheadMs

export function useServerTime(client: Client) {
  useEffect(() => {
    const leave = new AbortController()
    client.request(ServerInfoDocument, {}, { attempts: Number.POSITIVE_INFINITY, signal: leave.signal }).then(
      ({ serverInfo }) => {
        aheadMs = Date.parse(serverInfo.at) - Date.now()
      },
      () => {}, // the list shows why
    )
    return () => leave.abort()
  }, [client])
}

function useNow(): number {
  const [nowMs, setNow] = useState(serverMs)
  useEffect(() => {
    setNow(serverMs())
    const timer = setInterval(() => setNow(serverMs()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return nowMs
}
