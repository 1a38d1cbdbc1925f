import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { confirmBulk } from '../../features/jobs/actions/confirm-bulk.tsx'
import { retryJob } from '../../features/jobs/actions/retry-job.ts'
import { ReasonText } from '../../features/jobs/reason-text.tsx'
import { StartEstimate, TimeLeft } from '../../features/jobs/rows/estimates.tsx'
import { type JobRow, jobStore, useJobRow } from '../../features/jobs/rows/job-store.ts'
import { describePlace, describeRequest } from '../../features/jobs/rows/place.ts'
import { toPlainText } from '../../features/log/ansi.ts'
import { PeekJobDocument, type PeekJobQuery } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { NamedFact } from '../../parts/facts.tsx'
import { formatMoney, plural } from '../../parts/format.ts'
import { FailedInline, Loading } from '../../parts/page-states.tsx'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { StateChip, StateGlyph } from '../../parts/state-glyph.tsx'
import { describeEnd, describeInfo } from '../../parts/states.ts'
import { Duration, Time } from '../../parts/time.tsx'
import styles from './peek.module.css'

type PeekedJob = NonNullable<PeekJobQuery['job']>

const readMs = 3_000

/** A panel about a job beside the list: facts, why it waits or how it ended, the end of its log, and actions. */
export function Peek({ id, onClose }: { id: string; onClose: () => void }) {
  const row = useJobRow(id)
  const everyMs = row?.stateCategory === 'FINAL' ? undefined : readMs
  const { value: found, failure, read } = useQuery(PeekJobDocument, { id }, { everyMs, version: row?.version })
  const value = found?.job
  useEffect(() => {
    if (value) jobStore.put(value)
  }, [value])
  return (
    <SidePanel title={row ? nameJob(row) : id} actions={<OpenLink id={id} />} onClose={onClose}>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {value === null && (
        <p className={styles.faint}>This job does not exist: it was deleted, or you may not see it.</p>
      )}
      {!row && value === undefined && !failure && <Loading />}
      {row && value !== null && <Facts row={row} job={value} />}
    </SidePanel>
  )
}

const OpenLink = ({ id }: { id: string }) => (
  <Link to="/jobs/$id" params={{ id }} className={styles.open}>
    Open
  </Link>
)

function Facts({ row, job }: { row: JobRow; job: PeekedJob | undefined }) {
  // While the job waits, the reasons below say the same.
  const info = row.stateCategory === 'WAITING' ? null : describeInfo(row.stateInfo)
  return (
    <>
      <p className={styles.state}>
        <StateChip state={row.state} fraction={row.progress?.fraction} detail={describeEnd(row)} />
        {row.progress?.message && row.stateCategory === 'ACTIVE' && (
          <span className={styles.faint}>{row.progress.message}</span>
        )}
      </p>
      {info !== null && <p>{info}</p>}
      <Actions job={row} />
      {row.stateCategory === 'WAITING' && <Waiting row={row} job={job} />}
      <dl className={styles.facts}>
        <NamedFact name="Id">
          <code>{row.id}</code> <CopyButton text={row.id} what="id" />
        </NamedFact>
        <NamedFact name="Who">
          <Link to="/jobs" search={{ user: row.user.name }}>
            {row.user.name}
          </Link>
          {row.project !== null && ` · ${row.project}`}
        </NamedFact>
        <NamedFact name="Where">{row.stateCategory === 'WAITING' ? row.pool.name : describePlace(row)}</NamedFact>
        <NamedFact name="Asked">{describeRequest(row)}</NamedFact>
        <NamedFact name="Submitted">
          <Time at={row.createdAt} />
        </NamedFact>
        {row.currentRun.startedAt !== null && (
          <NamedFact name="Ran">
            <Duration from={row.currentRun.startedAt} to={row.finishedAt} />
            {job && (row.attempt > 1 || job.maxAttempts > 1) && ` · run ${row.attempt}`}
          </NamedFact>
        )}
        {row.progress && row.stateCategory === 'ACTIVE' && (
          <NamedFact name="Left">
            <TimeLeft job={row} />
          </NamedFact>
        )}
        {row.cost && <NamedFact name="Cost">{formatMoney(row.cost)}</NamedFact>}
        {row.labels.length > 0 && (
          <NamedFact name="Labels">
            {row.labels.map(({ key, value }) => (
              <Link key={key} to="/jobs" search={{ label: `${key}=${value}` }} className={styles.label}>
                {value === '' ? key : `${key}=${value}`}
              </Link>
            ))}
          </NamedFact>
        )}
      </dl>
      {job?.logs && job.logs.lines.length > 0 && <LastLines id={row.id} lines={job.logs.lines} />}
    </>
  )
}

function Actions({ job }: { job: JobRow }) {
  const navigate = useNavigate()
  const may = (action: JobRow['allowedActions'][number]) => job.allowedActions.includes(action)
  const retry = async () => {
    const id = await retryJob(job)
    if (id) void navigate({ to: '/jobs', search: (before) => ({ ...before, peek: id }) })
  }
  return (
    <div className={styles.actions}>
      {may('CANCEL') && <Button onClick={() => confirmBulk('CANCEL', [job])}>Cancel</Button>}
      {may('RETRY') && <Button onClick={() => void retry()}>Retry</Button>}
      {may('SET_PRIORITY') && <Button onClick={() => confirmBulk('SET_PRIORITY', [job])}>Priority</Button>}
      {may('DELETE') && <Button onClick={() => confirmBulk('DELETE', [job])}>Delete</Button>}
    </div>
  )
}

/** Shows why the job waits, and when it may start. */
function Waiting({ row, job }: { row: JobRow; job: PeekedJob | undefined }) {
  const known = row.scheduling?.reasons.map((reason) => ({ ...reason, job: null }))
  const reasons = job?.scheduling?.reasons ?? known ?? []
  const ahead = job?.scheduling?.jobsAhead ?? 0
  return (
    <section className={styles.waiting} aria-label="Why it waits">
      {reasons.length === 0 && <p>The scheduler has not looked at this job yet.</p>}
      {reasons.map((reason) => (
        <p key={`${reason.code} ${reason.message}`}>
          <ReasonText {...reason} />
        </p>
      ))}
      {job?.scheduling?.fit.missing
        .filter((each) => !reasons.some(({ message }) => message === each))
        .map((each) => (
          <p key={each} className={styles.faint}>
            {formatServerText(each)}
          </p>
        ))}
      {job?.dependencies
        .filter(({ satisfied }) => !satisfied)
        .map((each) => (
          <p key={each.job.id}>
            <StateGlyph state={each.job.state} />{' '}
            <Link to="/jobs" search={(before) => ({ ...before, peek: each.job.id })} className={styles.label}>
              {nameJob(each.job)}
            </Link>
          </p>
        ))}
      {row.scheduling?.estimatedStart?.p50 && (
        <p>
          Starts <StartEstimate job={row} />
          {ahead > 0 && <span className={styles.faint}> · {plural(ahead, 'job')} ahead</span>}
        </p>
      )}
    </section>
  )
}

type Line = NonNullable<PeekedJob['logs']>['lines'][number]

const LastLines = ({ id, lines }: { id: string; lines: readonly Line[] }) => (
  <section>
    <h3 className={styles.heading}>
      Last lines
      <Link to="/jobs/$id/$tab" params={{ id, tab: 'log' }}>
        Whole log
      </Link>
    </h3>
    <pre className={styles.log}>
      {lines.map(({ runNumber, number, stream, text }) => (
        <span key={`${runNumber} ${number} ${stream}`} data-stream={stream}>
          {`${toPlainText(text)}\n`}
        </span>
      ))}
    </pre>
  </section>
)
