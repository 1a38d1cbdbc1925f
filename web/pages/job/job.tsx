import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { confirmCancel } from '../../actions/cancel-jobs.ts'
import { downloadLog } from '../../actions/download-log.ts'
import { retryJob } from '../../actions/retry-job.ts'
import { useKeys } from '../../app/keys.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { useStateIcon } from '../../app/state-icon.ts'
import { LogView } from '../../log/log-view.tsx'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Failed, Loading, Missing } from '../../parts/page-states.tsx'
import { StateChip } from '../../parts/state-glyph.tsx'
import { stateWords } from '../../parts/states.ts'
import { EventsTab } from './events-tab.tsx'
import styles from './job.module.css'
import { JobFacts } from './job-facts.tsx'
import { SpecTab } from './spec-tab.tsx'
import { Timeline } from './timeline.tsx'
import { type JobState, type PageJob, useJob } from './use-job.ts'
import { WhyItWaits } from './why-it-waits.tsx'

const tabNames = ['log', 'events', 'spec'] as const
type TabName = (typeof tabNames)[number]

export function JobPage() {
  const { id = '', tab } = useParams({ strict: false }) as { id?: string; tab?: string }
  const state = useJob(id)
  const { job, failure, isGone, isLoading } = state
  usePageTitle(job?.name ?? id, { isJob: true, state: job ? stateWords[job.state] : '' })
  useStateIcon(job?.state)
  if (isGone && !job) return <Missing what={`Job ${id}`} />
  if (failure && !job) return <Failed failure={failure} onRetry={() => location.reload()} />
  if (isLoading || !job) return <Loading />
  const shown = tabNames.find((name) => name === tab) ?? 'log'
  return <JobView key={id} state={state} job={job} tab={shown} />
}

function JobView({ state, job, tab }: { state: JobState; job: PageJob; tab: TabName }) {
  const { run } = useSearch({ strict: false }) as { run?: string }
  const shownRun = Number(run ?? job.currentRun.number)
  return (
    <div className={styles.page}>
      {state.isGone && (
        <p className={styles.gone} role="alert">
          This job was deleted. What you see is from before.
        </p>
      )}
      <Header job={job} />
      <Timeline job={job} />
      <Tabs job={job} tab={tab} eventCount={job.version} shownRun={shownRun} />
      {tab === 'log' && job.stateCategory === 'WAITING' && <WhyItWaits job={job} />}
      {tab === 'log' && (job.stateCategory !== 'WAITING' || job.attempt > 1) && (
        <LogView
          key={shownRun}
          jobId={job.id}
          run={shownRun}
          isEnded={job.stateCategory === 'FINAL'}
          bytes={job.runs.nodes.find(({ number }) => number === shownRun)?.logBytes ?? 0}
          onDownload={() => void downloadLog(job.id, shownRun)}
        />
      )}
      {tab === 'events' && <EventsTab events={state.events} hasEarlier={state.hasEarlierEvents} />}
      {tab === 'spec' && state.spec && <SpecTab job={job} spec={state.spec} />}
    </div>
  )
}

function Header({ job }: { job: PageJob }) {
  const navigate = useNavigate()
  const may = (action: PageJob['allowedActions'][number]) => job.allowedActions.includes(action)
  const cancel = () => {
    if (may('CANCEL')) confirmCancel([job])
  }
  const again = async () => {
    const id = await retryJob(job)
    if (id) void navigate({ to: '/jobs/$id', params: { id } })
  }
  useKeys('Job', [
    ...(may('CANCEL') ? [{ keys: 'c', help: 'Cancel the job', run: cancel }] : []),
    ...(may('RETRY') ? [{ keys: 'r', help: 'Submit it again', run: () => void again() }] : []),
    { keys: 'Escape', help: 'All jobs', run: () => void navigate({ to: '/jobs' }) },
  ])
  return (
    <header className={styles.header}>
      <div className={styles.first}>
        <StateChip state={job.state} fraction={job.progress?.fraction} />
        <h2 className={styles.name}>{job.name ?? job.id}</h2>
        <span className={styles.id}>
          {job.name !== null && <code>{job.id}</code>}
          <CopyButton text={job.id} what="id" />
        </span>
        <span className={styles.actions}>
          {may('RETRY') && <Button onClick={() => void again()}>Submit again</Button>}
          {may('CANCEL') && <Button onClick={cancel}>Cancel</Button>}
        </span>
      </div>
      <JobFacts job={job} />
    </header>
  )
}

interface TabsProps {
  job: PageJob
  tab: TabName
  eventCount: number
  shownRun: number
}

function Tabs({ job, tab, eventCount, shownRun }: TabsProps) {
  const words = {
    log: job.stateCategory === 'WAITING' ? 'Why it waits' : 'Log',
    events: 'Events',
    spec: 'Spec',
  }
  const runs = job.runs.nodes
  return (
    <nav className={styles.tabs} aria-label="Parts of the job">
      {tabNames.map((name) => (
        <Link
          key={name}
          to="/jobs/$id/$tab"
          params={{ id: job.id, tab: name }}
          search={(before) => before}
          className={styles.tab}
          aria-current={name === tab ? 'page' : undefined}
        >
          {words[name]}
          {name === 'events' && <span className={styles.count}>{eventCount}</span>}
        </Link>
      ))}
      {tab === 'log' && runs.length > 1 && (
        <span className={styles.runs}>
          run
          {runs.map(({ id, number }) => (
            <Link
              key={id}
              to="/jobs/$id/$tab"
              params={{ id: job.id, tab: 'log' }}
              search={{ run: String(number) }}
              className={styles.run}
              aria-current={number === shownRun ? 'true' : undefined}
            >
              {number}
            </Link>
          ))}
        </span>
      )}
    </nav>
  )
}
