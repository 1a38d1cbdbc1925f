import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { LogView } from '../../features/log/log-view.tsx'
import type { Spec } from '../../features/spec/spec-input.ts'
import type { JobAction } from '../../generated/graphql.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { Failed, Loading, Missing } from '../../parts/page-states.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { stateWords } from '../../parts/states.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { ArtifactsTab } from './artifacts/artifacts-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { GraphTab } from './graph/graph-tab.tsx'
import styles from './job.module.css'
import { JobHeader } from './job-header.tsx'
import { LastErrors } from './last-errors.tsx'
import { MetricsTab } from './metrics-tab.tsx'
import { PortsTab } from './sessions/ports-tab.tsx'
import { TerminalTab } from './sessions/terminal-tab.tsx'
import { SpecTab } from './spec-tab.tsx'
import { useStateIcon } from './state-icon.ts'
import { Timeline } from './timeline/timeline.tsx'
import { UsageTab } from './usage-tab.tsx'
import { hasFailed, type JobState, type PageJob, useJob } from './use-job.ts'
import { WhyItWaits } from './waiting/why-it-waits.tsx'

const tabNames = ['log', 'events', 'spec', 'metrics', 'usage', 'artifacts', 'graph', 'terminal', 'ports'] as const
type TabName = (typeof tabNames)[number]

export function JobPage() {
  const { id = '', tab } = useParams({ strict: false }) as { id?: string; tab?: string }
  const { value: state, failure, read } = useJob(id)
  const job = state?.job
  usePageTitle(job ? nameJob(job) : id, { isJob: true, state: job ? stateWords[job.state] : '' })
  useStateIcon(job?.state)
  if (state === null) return <Missing what={`Job ${id}`} />
  if (!state || !job) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const shown = tab === undefined ? 'log' : tabNames.find((name) => name === tab)
  if (!shown) return <Missing what={`The part ${tab} of a job`} />
  return <JobView key={id} state={state} job={job} tab={shown} />
}

function JobView({ state, job, tab }: { state: JobState; job: PageJob; tab: TabName }) {
  const { run } = useSearch({ strict: false }) as { run?: string }
  const found = job.runs.nodes.find(({ number }) => String(number) === run)
  const shownRun = found?.number ?? job.currentRun.number
  return (
    <div className={styles.page}>
      {state.isGone && (
        <p className={styles.gone} role="alert">
          This job was deleted. What you see is from before.
        </p>
      )}
      <JobHeader job={job} spec={state.spec} isGone={state.isGone} />
      <Timeline job={job} events={state.events} maxRunTimeSeconds={state.spec?.maxRunTimeSeconds ?? null} />
      <JobTabs job={job} tab={tab} shownRun={shownRun} />
      {run !== undefined && !found && (
        <p className={styles.gone} role="alert">
          This job has no run {run}. Run {shownRun} is shown.
        </p>
      )}
      <Part state={state} job={job} tab={tab} run={shownRun} />
    </div>
  )
}

interface PartProps {
  state: JobState
  job: PageJob
  tab: TabName
  run: number
}

function Part({ state: { spec, events, eventsStart }, job, tab, run }: PartProps) {
  const navigate = useNavigate()
  const { open } = useSearch({ strict: false }) as { open?: string }
  switch (tab) {
    case 'log':
      return <LogPart job={job} spec={spec} run={run} />
    case 'events':
      return <EventsTab key={eventsStart} jobId={job.id} events={events} start={eventsStart} />
    case 'spec':
      return spec && <SpecTab job={job} spec={spec} />
    case 'metrics':
      return <MetricsTab job={job} run={run} />
    case 'usage':
      return spec && <UsageTab job={job} spec={spec} run={run} />
    case 'artifacts':
      return (
        <ArtifactsTab
          job={job}
          openId={open}
          onOpen={(id) =>
            void navigate({ to: '/jobs/$id/$tab', params: { id: job.id, tab }, search: { open: id }, replace: true })
          }
        />
      )
    case 'graph':
      return <GraphTab job={job} />
    case 'terminal':
      return <TerminalTab job={job} />
    case 'ports':
      return <PortsTab job={job} />
  }
}

/** Why the job waits, or its log. A job between two runs shows both. */
function LogPart({ job, spec, run }: { job: PageJob; spec: Spec | null; run: number }) {
  const waits = job.stateCategory === 'WAITING'
  return (
    <>
      {waits && <WhyItWaits job={job} spec={spec} />}
      {hasFailed(job) && <LastErrors job={job} run={run} />}
      {(!waits || job.attempt > 1) && (
        <LogView
          key={run}
          jobId={job.id}
          run={job.runs.nodes.find(({ number }) => number === run) ?? job.currentRun}
          isEnded={job.stateCategory === 'FINAL'}
        />
      )}
    </>
  )
}

const tabWords: Readonly<Record<TabName, string>> = {
  log: 'Log',
  events: 'Events',
  spec: 'Spec',
  metrics: 'Metrics',
  usage: 'Usage',
  artifacts: 'Artifacts',
  graph: 'Graph',
  terminal: 'Terminal',
  ports: 'Ports',
}

/** Tabs that are shown only if the viewer may take the action now. */
const actionOfTab: Partial<Record<TabName, JobAction>> = { terminal: 'OPEN_SESSION', ports: 'OPEN_FORWARD' }

const tabsOfRuns: readonly TabName[] = ['log', 'metrics', 'usage']

/** Links to the parts of the job, and beside the log to its runs. */
function JobTabs({ job, tab, shownRun }: { job: PageJob; tab: TabName; shownRun: number }) {
  const { run } = useSearch({ strict: false }) as { run?: string }
  const counts: Partial<Record<TabName, number | undefined>> = {
    events: job.version,
    metrics: job.currentRun.metrics?.length,
    artifacts: job.artifacts.totalCount,
    graph: job.dependencies.length + job.dependents.totalCount,
  }
  const target = (name: TabName) => ({ to: '/jobs/$id/$tab', params: { id: job.id, tab: name } })
  const isOffered = (name: TabName) => {
    const action = actionOfTab[name]
    return name === tab || !action || job.allowedActions.includes(action)
  }
  const tabs = tabNames.filter(isOffered).map((name) => ({
    title: name === 'log' && job.stateCategory === 'WAITING' ? 'Why it waits' : tabWords[name],
    count: counts[name] || undefined,
    isShown: name === tab,
    search: { run },
    ...target(name),
  }))
  const runs = job.runs.nodes
  return (
    <Tabs label="Parts of the job" tabs={tabs}>
      {tabsOfRuns.includes(tab) && runs.length > 1 && (
        <span className={styles.runs}>
          run
          {runs.map(({ id, number }) => (
            <Link
              key={id}
              {...target(tab)}
              search={{ run: String(number) }}
              className={styles.run}
              aria-current={number === shownRun ? 'true' : undefined}
            >
              {number}
            </Link>
          ))}
        </span>
      )}
    </Tabs>
  )
}
