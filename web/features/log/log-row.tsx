import { type CSSProperties, type MouseEvent, memo } from 'react'
import type { Settings } from '../../ground/settings.ts'
import { formatBytes, formatCount, formatExact, plural } from '../../parts/format.ts'
import { foldSpans, parseLine, readLastState, type Span, toPlainText } from './ansi.ts'
import { toGroupName } from './groups.ts'
import { formatJsonLine, isJsonLine } from './json-line.ts'
import type { Line } from './line-store.ts'
import { formatElapsed, formatLineTime } from './line-time.ts'
import type { Gap } from './log-lines.ts'
import styles from './log-row.module.css'
import { splitMatches } from './log-search.ts'

interface LogRowProps {
  number: number
  gap: Gap | null
  /** undefined: not read yet. */
  line: Line | undefined
  isSelected: boolean
  /** true: the line has the current match. */
  isMatch: boolean
  /** true: shown in full length and, if it is JSON, formatted. */
  isOpen: boolean
  highlighter: RegExp | null
  times: Settings['logTimes']
  /** When the run started; null: it has not started. */
  startMs: number | null
  onSelect: (number: number, isExtended: boolean) => void
  onToggle: (number: number) => void
  /** Number of further lines in the group that this line begins; 0: it begins no group. */
  groupCount: number
  isGroupOpen: boolean
  onFold: (number: number) => void
}

const charactersMax = 2_000
/** Maximum length of the parsed text, including escape sequences. */
const parsedMax = 4 * charactersMax
/** Maximum length of an open line. Longer lines would block the page for seconds. */
const openCharactersMax = 1_048_576

export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { number, gap, line, isSelected, isMatch, isOpen, times, onSelect } = props
  if (gap) return <GapRow gap={gap} />
  if (!line)
    return (
      <div className={styles.line} data-line={number}>
        <span className={styles.number}>{number}</span>
      </div>
    )
  const select = (event: MouseEvent) => {
    event.preventDefault()
    onSelect(number, event.shiftKey)
  }
  return (
    <div
      className={styles.line}
      data-line={number}
      data-selected={isSelected}
      data-match={isMatch}
      data-open={isOpen}
      data-stream={line.stream}
      data-group={props.groupCount > 0}
    >
      <a className={styles.number} href={`#L${number}`} data-number={number} onClick={select} tabIndex={-1}>
        {number}
      </a>
      {times !== 'OFF' && <LineTime line={line} times={times} startMs={props.startMs} />}
      {props.groupCount > 0 ? <GroupHead {...props} line={line} /> : <LineText {...props} line={line} />}
    </div>
  )
})

function LineTime({ line, times, startMs }: Pick<LogRowProps, 'times' | 'startMs'> & { line: Line }) {
  const atMs = Date.parse(line.at)
  return (
    <time className={styles.time} dateTime={line.at} title={formatExact(atMs)}>
      {times === 'RELATIVE' && startMs !== null ? formatElapsed(atMs - startMs) : formatLineTime(atMs)}
    </time>
  )
}

function GroupHead(props: LogRowProps & { line: Line }) {
  const { number, line, groupCount, isGroupOpen, onFold } = props
  const name = toGroupName(line.text)
  const fold = () => onFold(number)
  return (
    <>
      <FoldButton isOpen={isGroupOpen} label={`Group ${toPlainText(name)}`} onClick={fold} />
      {/* biome-ignore lint/a11y: the button before it does the same */}
      <span className={styles.group} onClick={fold}>
        <LineText {...props} line={{ ...line, text: name }} />
        {!isGroupOpen && <span className={styles.more}>{plural(groupCount, 'line')}</span>}
      </span>
    </>
  )
}

const FoldButton = ({ isOpen, label, onClick }: { isOpen: boolean; label: string; onClick: () => void }) => (
  <button type="button" className={styles.fold} aria-expanded={isOpen} aria-label={label} onClick={onClick}>
    {isOpen ? '▾' : '▸'}
  </button>
)

function LineText({ number, line, isOpen, highlighter, onToggle }: LogRowProps & { line: Line }) {
  const isJson = isJsonLine(line.text)
  const { text, updates } = readLastState(line.text)
  const shown = text.slice(0, isOpen ? openCharactersMax : parsedMax)
  const parsed = parseLine((isOpen && isJson && formatJsonLine(text)) || shown)
  const spans = isOpen ? parsed : foldSpans(parsed, charactersMax)
  const isLong = text.length > parsedMax || spans !== parsed || (isOpen && text.length > charactersMax)
  const toggle = () => onToggle(number)
  return (
    <>
      {isJson && <FoldButton isOpen={isOpen} label={`Format line ${number}`} onClick={toggle} />}
      <span className={styles.content}>
        <span className={styles.text} data-text>
          {spans.map((span, i) => (
            <LogSpan key={i} span={span} highlighter={highlighter} />
          ))}
        </span>
        {isLong && !isJson && (
          <button type="button" className={styles.more} aria-expanded={isOpen} onClick={toggle}>
            {isOpen ? 'less' : `${formatBytes(text.length - charactersMax)} more`}
          </button>
        )}
        {updates > 0 && <span className={styles.more}>{formatCount(updates)} updates</span>}
      </span>
    </>
  )
}

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
  LOST: 'lost with the node or its files',
  NOT_VISIBLE: 'you may not see this output',
  OVER_LIMIT: 'the run printed more than the server keeps',
  RETENTION: 'deleted by age',
}

const GapRow = ({ gap: { bytes, reason } }: { gap: Gap }) => (
  <div className={styles.gap} role="note">
    {formatBytes(bytes)} missing: {gapReasons[reason]}
  </div>
)
