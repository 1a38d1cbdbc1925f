import { ArrowDownToLine, Clock, Download } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { client } from '../app/connection.ts'
import { useKeys } from '../app/keys.ts'
import { beforeNextPicture } from '../app/next-picture.ts'
import { changeSettings, useSettings } from '../app/settings.ts'
import { Button } from '../parts/button.tsx'
import { formatBytes, formatCount } from '../parts/format.ts'
import { Empty, FailedInline, Loading } from '../parts/page-states.tsx'
import { LogLines, type LogState } from './log-lines.ts'
import { LogRow } from './log-row.tsx'
import styles from './log-view.module.css'
import { formatRange, parseRange, type Range } from './range.ts'
import { buildRows, type Rows } from './rows.ts'
import { type Scroller, useScroller } from './scroller.ts'
import { Matches, SearchField } from './search-field.tsx'
import { type Finder, useFinder } from './use-finder.ts'

interface LogViewProps {
  jobId: string
  run: number
  isEnded: boolean
  /** Bytes of output of the run. */
  bytes: number
  onDownload: () => void
}

const rowPx = 18

function useLogLines(jobId: string, run: number) {
  const [lines, setLines] = useState<LogLines | null>(null)
  useEffect(() => {
    const created = new LogLines({ client, jobId, run, schedule: beforeNextPicture })
    created.start()
    setLines(created)
    return () => created.stop()
  }, [jobId, run])
  return lines
}

export function LogView(props: LogViewProps) {
  const lines = useLogLines(props.jobId, props.run)
  return lines ? <Lines {...props} lines={lines} /> : <Loading />
}

function Lines({ lines, jobId, run, isEnded, bytes, onDownload }: LogViewProps & { lines: LogLines }) {
  const state = useSyncExternalStore(lines.subscribe, lines.state)
  const { range, select } = useRange()
  const [isFollowing, setFollowing] = useState(range === null)
  const rows = useMemo(() => buildRows(state.lineCount, state.gaps), [state.lineCount, state.gaps])
  const scroller = useScroller(rows.count, rowPx)
  const { scrollToEnd, scrollTo } = scroller
  const [first, last] = [rows.at(scroller.from), rows.at(Math.max(scroller.from, scroller.to - 1))]

  useEffect(() => {
    if (first && last) lines.show(first.number, last.number)
  }, [lines, first?.number, last?.number])

  // The end moves with the number of rows.
  useEffect(() => {
    if (isFollowing) scrollToEnd()
  }, [isFollowing, rows.count, scroller.barPx])

  const isPlaced = useRef(false)
  useEffect(() => {
    if (isPlaced.current || state.isLoading || !range || scroller.barPx === 0) return
    isPlaced.current = true
    scrollTo(rows.indexOf(range.from))
  })

  const follow = (wanted: boolean) => {
    setFollowing(wanted)
    if (wanted) scrollToEnd()
  }
  const goTo = (line: number) => {
    setFollowing(false)
    scrollTo(rows.indexOf(line))
  }
  const finder = useFinder({ jobId, run, isEnded, goTo, from: first?.number ?? 0 })
  useLogKeys({ follow, isFollowing, goTo, scrollToEnd, finder })

  if (state.isGone) return <Empty title="The log was deleted" />
  return (
    <section className={styles.view} aria-label="Log">
      {state.failure && <FailedInline failure={state.failure} onRetry={() => lines.start()} />}
      <Tools
        finder={finder}
        isLive={!state.isFinal}
        isFollowing={isFollowing}
        onFollow={follow}
        onDownload={onDownload}
      />
      <div
        ref={scroller.box}
        className={styles.box}
        role="log"
        aria-label="Output"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
        tabIndex={0}
        onWheel={({ deltaY }) => deltaY < 0 && setFollowing(false)}
        onKeyDown={({ key }) => /^(ArrowUp|PageUp|Home)$/.test(key) && setFollowing(false)}
        onPointerDown={({ target, currentTarget }) => target === currentTarget && setFollowing(false)}
      >
        <Drawn scroller={scroller} rows={rows} lines={lines} range={range} finder={finder} onSelect={select} />
        {!state.isLoading && rows.count === 0 && (
          <p className={styles.none}>
            {isEnded ? 'The job printed nothing.' : 'No output yet. It appears here as the job prints it.'}
          </p>
        )}
      </div>
      <Foot state={state} bytes={bytes} />
    </section>
  )
}

interface DrawnProps {
  scroller: Scroller
  rows: Rows
  lines: LogLines
  range: Range | null
  finder: Finder
  onSelect: (number: number, isExtended: boolean) => void
}

/** The rows in sight. */
function Drawn({ scroller, rows, lines, range, finder, onSelect }: DrawnProps) {
  const { logShowsTimes } = useSettings()
  return (
    <div className={styles.bar} style={{ height: Math.max(scroller.barPx, 1) }}>
      <div className={styles.window}>
        <div style={{ transform: `translateY(${scroller.offsetPx}px)` }}>
          {rows.slice(scroller.from, scroller.to).map((row) => (
            <LogRow
              key={row.key}
              row={row}
              line={row.gap ? undefined : lines.line(row.number)}
              isSelected={!row.gap && range !== null && row.number >= range.from && row.number <= range.to}
              isMatch={row.number === finder.current}
              highlighter={finder.highlighter}
              showsTime={logShowsTimes}
              onSelect={onSelect}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** The selected lines, which the fragment of the URL names. */
function useRange() {
  const [range, setRange] = useState<Range | null>(() => parseRange(location.hash))
  const select = useCallback((number: number, isExtended: boolean) => {
    setRange((before) => {
      const anchor = isExtended && before ? before.from : number
      const next = { from: Math.min(anchor, number), to: Math.max(anchor, number) }
      history.replaceState(history.state, '', `${location.pathname}${location.search}#${formatRange(next)}`)
      return next
    })
  }, [])
  return { range, select }
}

interface LogKeys {
  follow: (wanted: boolean) => void
  isFollowing: boolean
  goTo: (line: number) => void
  scrollToEnd: () => void
  finder: Finder
}

function useLogKeys({ follow, isFollowing, goTo, scrollToEnd, finder }: LogKeys) {
  const { logShowsTimes } = useSettings()
  useKeys('Log', [
    { keys: 'f', help: 'Follow the end', run: () => follow(!isFollowing) },
    { keys: '/', help: 'Search', run: () => finder.field.current?.focus() },
    { keys: 'n', help: 'Next match', run: () => finder.move(1) },
    { keys: 'Shift+N', help: 'Previous match', run: () => finder.move(-1) },
    { keys: 'e', help: 'Next error', run: () => finder.moveError(1) },
    { keys: 'Shift+E', help: 'Previous error', run: () => finder.moveError(-1) },
    { keys: 'g g', help: 'First line', run: () => goTo(1) },
    { keys: 'Shift+G', help: 'Last line', run: scrollToEnd },
    { keys: 'i', help: 'Show times', run: () => changeSettings({ logShowsTimes: !logShowsTimes }) },
    { keys: 'y', help: 'Copy a link to the lines', run: () => void navigator.clipboard.writeText(location.href) },
  ])
}

interface ToolsProps {
  finder: Finder
  isLive: boolean
  isFollowing: boolean
  onFollow: (wanted: boolean) => void
  onDownload: () => void
}

function Tools({ finder, isLive, isFollowing, onFollow, onDownload }: ToolsProps) {
  const { logShowsTimes } = useSettings()
  const { errors } = finder
  return (
    <div className={styles.tools} role="toolbar" aria-label="Log">
      <SearchField
        ref={finder.field}
        query={finder.query}
        found={finder.found}
        current={finder.current}
        onChange={finder.setQuery}
        onMove={finder.move}
      />
      {errors === null && (
        <Button look="quiet" onClick={finder.findErrors}>
          Errors
        </Button>
      )}
      {errors !== null && (errors.lines.length > 0 || errors.failure) && (
        <span className={styles.errors}>
          Errors
          <Matches found={errors} current={finder.current} onMove={finder.moveError} />
        </span>
      )}
      <span className={styles.space} />
      <Button
        look="quiet"
        aria-pressed={logShowsTimes}
        title="Show times (i)"
        onClick={() => changeSettings({ logShowsTimes: !logShowsTimes })}
      >
        <Clock size={14} /> <span>Times</span>
      </Button>
      <Button look="quiet" title="Download" onClick={onDownload}>
        <Download size={14} /> <span>Download</span>
      </Button>
      {isLive && (
        <Button aria-pressed={isFollowing} title="Follow the end (f)" onClick={() => onFollow(!isFollowing)}>
          <ArrowDownToLine size={14} /> <span>Follow</span>
        </Button>
      )}
    </div>
  )
}

/** The whole log was read without a gap: it is complete. Otherwise the foot does not claim it. */
function Foot({ state: { lineCount, gaps, isFinal, isWhole }, bytes }: { state: LogState; bytes: number }) {
  const missing = gaps.reduce((sum, gap) => sum + gap.bytes, 0)
  const ended = isWhole && missing === 0 ? `complete, bytes 0–${formatCount(bytes)} without a gap` : 'ended'
  return (
    <footer className={styles.foot}>
      <span>
        {formatCount(lineCount)} {lineCount === 1 ? 'line' : 'lines'}
      </span>
      {isFinal && <span>{formatBytes(bytes)}</span>}
      {missing > 0 && <span className={styles.missing}>{formatBytes(missing)} missing</span>}
      <span>{isFinal ? ended : 'live'}</span>
    </footer>
  )
}
