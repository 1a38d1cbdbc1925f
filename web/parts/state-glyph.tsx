import type { JSX } from 'react'
import type { JobState } from '../generated/graphql.ts'
import styles from './state-glyph.module.css'
import { stateHelp, stateWords } from './states.ts'

const ring = { cx: 8, cy: 8, r: 6.25, fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 } as const
const circumference = 2 * Math.PI * ring.r
const disc = <circle cx="8" cy="8" r="7" fill="currentColor" />
const cut = { className: styles.cut, fill: 'none', strokeLinecap: 'round', strokeLinejoin: 'round' } as const

const runningDrawing = (fraction: number | null) => (
  <>
    <circle {...ring} className={fraction === null ? undefined : styles.track} />
    {fraction !== null && (
      <circle
        {...ring}
        strokeWidth="2"
        strokeDasharray={`${fraction * circumference} ${circumference}`}
        transform="rotate(-90 8 8)"
      />
    )}
    <path d="M6.5 5.2v5.6L11 8z" fill="currentColor" stroke="currentColor" strokeWidth=".8" strokeLinejoin="round" />
  </>
)

/** The drawing of each state. They also differ in shape, not only in colour. */
const drawings: Readonly<Record<Exclude<JobState, 'RUNNING'>, JSX.Element>> = {
  BLOCKED: (
    <>
      {disc}
      <path
        {...cut}
        strokeWidth="1.35"
        d="M6.3 8.2V4.9M8.1 7.8V3.9M9.9 8V4.9M6.3 8.6 5 7.3C4.3 6.7 3.6 7.5 4.1 8.2l1.9 2.9c.5.8 1.1 1.2 2.2 1.2 2 0 3.3-1.1 3.3-3.1V6.4"
      />
    </>
  ),
  QUEUED: <circle {...ring} />,
  STARTING: (
    <>
      <circle {...ring} className={styles.track} />
      <g className={styles.turning}>
        <circle
          {...ring}
          strokeWidth="2"
          strokeLinecap="round"
          strokeDasharray={`${circumference / 4} ${circumference}`}
          transform="rotate(-90 8 8)"
        />
      </g>
    </>
  ),
  CANCELLING: (
    <>
      <circle {...ring} strokeDasharray={`${circumference / 16} ${circumference / 16}`} />
      <rect x="5.75" y="5.75" width="4.5" height="4.5" rx=".75" fill="currentColor" />
    </>
  ),
  SUCCEEDED: (
    <>
      {disc}
      <path {...cut} strokeWidth="1.75" d="m4.9 8.3 2.1 2.1 4.1-4.5" />
    </>
  ),
  FAILED: (
    <>
      {disc}
      <path {...cut} strokeWidth="1.75" d="m5.5 5.5 5 5m0-5-5 5" />
    </>
  ),
  INTERRUPTED: (
    <>
      <circle
        {...ring}
        strokeDasharray={`${circumference * 0.33} ${circumference * 0.17}`}
        transform="rotate(-60 8 8)"
        strokeLinecap="round"
      />
      <path d="M8.9 3.9 5.6 8.6h2.1l-.6 3.5 3.3-4.7H8.3z" fill="currentColor" />
    </>
  ),
  CANCELLED: (
    <>
      <circle {...ring} />
      <path d="m4.6 11.4 6.8-6.8" stroke="currentColor" strokeWidth="1.5" />
    </>
  ),
}

interface StateProps {
  state: JobState
  /** Progress, 0 … 1; null: the job reports no progress. */
  fraction?: number | null | undefined
}

/** The icon of a state, hidden from screen readers because the word of the state is beside it. */
export function StateGlyph({ state, fraction = null }: StateProps) {
  return (
    <svg className={styles.glyph} viewBox="0 0 16 16" aria-hidden="true" data-state={state}>
      {state === 'RUNNING' ? runningDrawing(fraction) : drawings[state]}
    </svg>
  )
}

export function StateChip({ state, fraction, detail }: StateProps & { detail?: string | null }) {
  return (
    <span className={styles.chip} data-state={state} title={stateHelp[state]}>
      <StateGlyph state={state} fraction={fraction} />
      {stateWords[state]}
      {detail && <span className={styles.detail}>{detail}</span>}
    </span>
  )
}
