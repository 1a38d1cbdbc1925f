import { type CSSProperties, type MouseEvent, memo, useState } from 'react'
import { formatBytes, formatClockSeconds, formatExact } from '../parts/format.ts'
import { parseLine, type Span } from './ansi.ts'
import type { Gap, Line } from './log-lines.ts'
import { splitMatches } from './log-search.ts'
import styles from './log-view.module.css'
import type { Row } from './rows.ts'

interface LogRowProps {
  row: Row
  /** undefined: not read yet. */
  line: Line | undefined
  isSelected: boolean
  /** The match that is shown. */
  isMatch: boolean
  highlighter: RegExp | null
  showsTime: boolean
  onSelect: (number: number, isExtended: boolean) => void
}

const charactersMax = 2_000

export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { row, line, isSelected, isMatch, highlighter, showsTime, onSelect } = props
  const [isOpen, setOpen] = useState(false)
  if (row.gap) return <GapRow gap={row.gap} />
  const { number } = row
  const select = (event: MouseEvent) => {
    event.preventDefault()
    onSelect(number, event.shiftKey)
  }
  if (!line)
    return (
      <div className={styles.line}>
        <span className={styles.number}>{number}</span>
      </div>
    )
  const isLong = line.text.length > charactersMax && !isOpen
  const { spans, updates } = parseLine(isLong ? line.text.slice(0, charactersMax) : line.text)
  return (
    <div className={styles.line} data-selected={isSelected} data-match={isMatch} data-stream={line.stream}>
      <a className={styles.number} href={`#L${number}`} data-number={number} onClick={select} tabIndex={-1}>
        {number}
      </a>
      {showsTime && (
        <time className={styles.time} title={formatExact(Date.parse(line.at))}>
          {formatClockSeconds(Date.parse(line.at))}
        </time>
      )}
      <span className={styles.text}>
        {spans.map((span, i) => (
          <LogSpan key={i} span={span} highlighter={highlighter} />
        ))}
        {isLong && (
          <button type="button" className={styles.more} onClick={() => setOpen(true)}>
            {formatBytes(line.text.length - charactersMax)} more
          </button>
        )}
        {updates > 0 && <span className={styles.updates}>{updates + 1} updates</span>}
      </span>
    </div>
  )
})

function LogSpan({ span, highlighter }: { span: Span; highlighter: RegExp | null }) {
  const { color, background, marks, href } = span
  const text = highlighter ? <Highlighted text={span.text} highlighter={highlighter} /> : span.text
  const className = marks.map((mark) => styles[mark]).join(' ') || undefined
  const isReversed = marks.includes('reverse')
  const style: CSSProperties = {
    ...(color && { [isReversed ? 'backgroundColor' : 'color']: color }),
    ...(background && { [isReversed ? 'color' : 'backgroundColor']: background }),
  }
  if (href)
    return (
      <a href={href} target="_blank" rel="noreferrer" className={`${styles.link} ${className ?? ''}`} style={style}>
        {text}
      </a>
    )
  if (!className && !color && !background) return text
  return (
    <span className={className} style={style}>
      {text}
    </span>
  )
}

const Highlighted = ({ text, highlighter }: { text: string; highlighter: RegExp }) =>
  splitMatches(text, highlighter).map((piece, i) =>
    i % 2 === 1 ? (
      <mark key={i} className={styles.mark}>
        {piece}
      </mark>
    ) : (
      piece
    ),
  )

const gapReasons: Readonly<Record<Gap['reason'], string>> = {
  DISK_FULL: 'the disk was full',
  LOST: 'they were lost with their node or its files',
  NOT_VISIBLE: 'you may not see them',
  OVER_LIMIT: 'the run printed more than the server keeps',
  RETENTION: 'the server no longer keeps them',
}

const GapRow = ({ gap: { bytes, reason } }: { gap: Gap }) => (
  <div className={styles.gap} role="note">
    {formatBytes(bytes)} missing: {gapReasons[reason]}
  </div>
)
