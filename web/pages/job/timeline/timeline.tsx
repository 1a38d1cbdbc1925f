import { useNavigate } from '@tanstack/react-router'
import { type MouseEvent, useMemo } from 'react'
import { useNow } from '../../../ground/server-clock.ts'
import { formatClock, formatClockSeconds, formatDuration, formatExact } from '../../../parts/format.ts'
import { stateWords } from '../../../parts/states.ts'
import { nameEvent } from '../event-words.ts'
import type { JobEvent, PageJob } from '../use-job.ts'
import { listPhases } from './phases.ts'
import styles from './timeline.module.css'
import { type Mark, mergeMarks, placeOf, type Segment, scalePhases } from './timeline-scale.ts'

interface TimelineProps {
  job: PageJob
  events: readonly JobEvent[]
  /** Maximum run time; null: unlimited. */
  maxRunTimeSeconds: number | null
}

const percent = (share: number) => `${share * 100}%`
const markDistance = 0.03

/** Shows the phases of all runs on one axis, with the events. A click opens the log at that time. */
export function Timeline({ job, events, maxRunTimeSeconds }: TimelineProps) {
  const nowMs = useNow()
  const runs = job.runs.nodes
  const phases = useMemo(() => listPhases(job, runs), [job, runs])
  const [first] = phases
  if (!first) return null
  const startedMs = job.state === 'RUNNING' && job.currentRun.startedAt ? Date.parse(job.currentRun.startedAt) : null
  const limitMs = startedMs !== null && maxRunTimeSeconds !== null ? startedMs + maxRunTimeSeconds * 1_000 : null
  const segments = scalePhases(phases, { nowMs, limitMs })
  const endMs = segments.findLast(({ phase }) => phase)?.toMs ?? nowMs
  const count = Math.max(job.attempt, job.maxAttempts)
  const notes = [
    count > 1 && `run ${job.attempt} of ${count}`,
    limitMs !== null &&
      maxRunTimeSeconds !== null &&
      `limit ${formatDuration(maxRunTimeSeconds * 1_000)}, at ${formatClock(limitMs, nowMs)}`,
  ]
  return (
    <div className={styles.timeline}>
      <ol className={styles.phases} aria-label="Phases">
        {segments.map((segment) => (
          <Part
            key={segment.phase ? `${segment.phase.run} ${segment.phase.state}` : 'rest'}
            job={job}
            segment={segment}
          />
        ))}
      </ol>
      <Marks job={job} events={events} segments={segments} />
      <div className={styles.axis}>
        <span>{formatClockSeconds(first.fromMs)}</span>
        <span>{notes.filter(Boolean).join(' · ')}</span>
        <span>{job.stateCategory === 'FINAL' ? formatClockSeconds(endMs) : limitMs === null && 'now'}</span>
      </div>
    </div>
  )
}

const words = { ...stateWords, QUEUED: 'waiting', BLOCKED: 'blocked', STARTING: 'starting', RUNNING: 'running' }
const formatLength = (ms: number) => (ms < 1_000 ? `${ms} ms` : formatDuration(ms))

function Part({ job, segment: { phase, fromMs, toMs, left, width } }: { job: PageJob; segment: Segment }) {
  const open = useLogAt(job)
  const style = { left: percent(left), width: percent(width) }
  const length = formatLength(toMs - fromMs)
  if (!phase)
    return (
      <li className={styles.rest} style={style} title={`${length} left until the limit`}>
        <span>{length} left</span>
      </li>
    )
  const { state, run } = phase
  const openHere = (event: MouseEvent<HTMLButtonElement>) => {
    const { left: startPx, width: lengthPx } = event.currentTarget.getBoundingClientRect()
    // A click by keyboard has no position.
    const share = event.detail === 0 ? 0 : Math.min(1, Math.max(0, (event.clientX - startPx) / lengthPx))
    open(run, fromMs + share * (toMs - fromMs))
  }
  return (
    <li className={styles.phase} style={style} data-state={state}>
      <button
        type="button"
        onClick={openHere}
        title={`Run ${run}: ${words[state]} ${length}, from ${formatExact(fromMs)}. A click opens the log there.`}
      >
        <span>
          {words[state]} <b>{length}</b>
        </span>
      </button>
    </li>
  )
}

function useLogAt(job: PageJob) {
  const navigate = useNavigate()
  return (run: number, atMs: number) =>
    void navigate({
      to: '/jobs/$id/$tab',
      params: { id: job.id, tab: 'log' },
      search: { run: String(run), at: new Date(atMs).toISOString() },
    })
}

interface MarksProps {
  job: PageJob
  events: readonly JobEvent[]
  segments: readonly Segment[]
}

/** Marks the events that do not begin or end a phase. */
function Marks({ job, events, segments }: MarksProps) {
  const open = useLogAt(job)
  const marks = events
    .filter(({ type }) => type !== 'STATE_CHANGED' && type !== 'CREATED')
    .flatMap((event): Mark[] => {
      const atMs = Date.parse(event.at)
      const place = placeOf(segments, atMs)
      return place === null ? [] : [{ place, atMs, texts: [`${nameEvent(event)}, ${formatClockSeconds(atMs)}`] }]
    })
  if (marks.length === 0) return null
  return (
    <ul className={styles.marks} aria-label="Events">
      {mergeMarks(marks, markDistance).map(({ place, atMs, texts }) => {
        const run = job.runs.nodes.findLast(({ createdAt }) => Date.parse(createdAt) <= atMs)?.number ?? 1
        return (
          <li key={atMs} style={{ left: percent(place) }}>
            <button
              type="button"
              title={texts.join('\n')}
              aria-label={texts.join('; ')}
              onClick={() => open(run, atMs)}
            >
              {texts.length > 1 && texts.length}
            </button>
          </li>
        )
      })}
    </ul>
  )
}
