import { useOutage } from '../../ground/connection.ts'
import { formatBytes, formatClockSeconds, formatCount, plural } from '../../parts/format.ts'
import type { LogState } from './log-lines.ts'
import styles from './log-view.module.css'

interface FootProps {
  state: LogState
  /** Number of lines in the chosen streams; null: all streams are shown. */
  shownCount: number | null
  onGo: (line: number) => void
}

/** The number of lines, and whether the log is complete: it has ended and all of its bytes are stored. */
export function Foot({ state, shownCount, onGo }: FootProps) {
  const { lineCount, gaps, bytes, isFinal } = state
  const missing = gaps.reduce((sum, gap) => sum + gap.bytes, 0)
  const [first] = gaps
  return (
    <footer className={styles.foot}>
      <span>
        {shownCount !== null && `${formatCount(shownCount)} of `}
        {plural(lineCount, 'line')}
      </span>
      {isFinal && bytes !== null && <span>{formatBytes(bytes)}</span>}
      {first && (
        <button type="button" className={styles.missing} onClick={() => onGo(first.beforeLine)}>
          {formatBytes(missing)} missing in {plural(gaps.length, 'gap')}
        </button>
      )}
      {isFinal ? <Proof bytes={bytes} isWhole={gaps.length === 0} /> : <Liveness behindMs={state.behindMs} />}
    </footer>
  )
}

function Proof({ bytes, isWhole }: { bytes: number | null; isWhole: boolean }) {
  if (bytes === null) return <span>ended</span>
  if (!isWhole) return <span>ended, not complete</span>
  return <span>{bytes === 0 ? 'complete' : `complete, bytes 0–${formatCount(bytes)} without a gap`}</span>
}

const secondMs = 1_000

function Liveness({ behindMs }: { behindMs: number | null }) {
  const outage = useOutage()
  if (outage) return <span className={styles.stale}>not live since {formatClockSeconds(outage.sinceMs)}</span>
  return <span>live{behindMs !== null && `, ${(behindMs / secondMs).toFixed(1)} s behind`}</span>
}
