import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { RunRowFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { beforeNextPicture } from '../../ground/next-picture.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useSettings } from '../../ground/settings.ts'
import { Empty, FailedInline, Loading } from '../../parts/page-states.tsx'
import { DrawnRows } from './drawn-rows.tsx'
import { Foot } from './foot.tsx'
import { LogLines } from './log-lines.ts'
import { LogTools } from './log-tools.tsx'
import styles from './log-view.module.css'
import { buildRows } from './rows.ts'
import { useScroller } from './scroller.ts'
import { TickStrip } from './tick-strip.tsx'
import { useBoxEvents } from './use-box-events.ts'
import { useFinder } from './use-finder.ts'
import { useLogGroups } from './use-log-groups.ts'
import { linesId, useLogKeys } from './use-log-keys.ts'
import { usePlace } from './use-place.ts'
import { useStreamFilter } from './use-stream-filter.ts'

interface LogViewProps {
  jobId: string
  run: Pick<RunRowFragment, 'number' | 'startedAt'> & Partial<Pick<RunRowFragment, 'logLines'>>
  isEnded: boolean
}

const rowPx = 18
/** Number of rows above and below the visible ones that are read with them. */
const marginRows = 100
/** In longer logs, errors are searched only on request, because the server must read the whole log. */
const searchedLinesMax = 200_000

function useLogLines(jobId: string, { number, logLines = 0 }: LogViewProps['run']) {
  const [lines, setLines] = useState<LogLines | null>(null)
  useEffect(() => {
    const options = { client, jobId, run: number, lineCount: logLines, nowMs: serverNowMs, schedule: beforeNextPicture }
    const created = new LogLines(options)
    created.start()
    setLines(created)
    return () => created.stop()
    // `logLines` is only a hint at the start, so a change of it makes no new LogLines.
  }, [jobId, number])
  return lines
}

/** The log of one run of a job. */
export function LogView(props: LogViewProps) {
  const lines = useLogLines(props.jobId, props.run)
  return lines ? <Lines {...props} lines={lines} /> : <Loading />
}

function Lines({ lines, jobId, run, isEnded }: LogViewProps & { lines: LogLines }) {
  const state = useSyncExternalStore(lines.subscribe, lines.state)
  const { logWraps } = useSettings()
  const filter = useStreamFilter({ jobId, run: run.number, lines })
  const only = filter.lines
  const all = useMemo(
    () => buildRows(state.lineCount, state.gaps, only),
    [state.lineCount, state.gaps, only, only?.length],
  )
  const folds = useLogGroups({ jobId, run: run.number, lines }, all)
  const { rows } = folds
  const key = `${filter.key} ${state.gaps.length} ${folds.key}`
  const scroller = useScroller(rows.count, rowPx, { wraps: logWraps, key })
  const place = usePlace({ lines, rows, folds, scroller, isReady: rows.count > 0 || state.isFinal })
  const first = rows.at(Math.floor(scroller.place))?.number ?? 1
  const findsErrors = isEnded && (run.logLines ?? 0) <= searchedLinesMax
  const finder = useFinder({
    jobId,
    run: run.number,
    lines,
    streams: filter.streams,
    findsErrors,
    goTo: place.goTo,
    from: first,
  })
  const events = useBoxEvents({ lines, scroller, place })
  useLogKeys({ place, scroller, finder, first })

  const { from, to } = scroller
  useEffect(() => {
    if (!place.isSettled) return
    const numbersAt = (margin: number) => rows.slice(from - margin, to + margin).map(({ number }) => number)
    if (only === null) lines.show(numbersAt(marginRows))
    else void lines.readScatteredLines(numbersAt(0), filter.streams)
  }, [lines, only, rows, from, to, state.version, place.isSettled])

  if (state.isGone) return <Empty title="The log was deleted" />
  return (
    <section className={styles.view} aria-label="Log">
      {state.failure && <FailedInline failure={state.failure} onRetry={() => lines.start()} />}
      <LogTools finder={finder} filter={filter} place={place} isLive={!state.isFinal} jobId={jobId} run={run.number} />
      <div className={styles.frame}>
        <div
          ref={scroller.box}
          className={styles.box}
          id={linesId}
          role="log"
          aria-label="Output"
          aria-live="off"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: users scroll the log by keyboard
          tabIndex={0}
          {...events}
        >
          <DrawnRows {...{ scroller, rows, folds, lines, finder, place }} startedAt={run.startedAt} />
          {rows.count === 0 && <p className={styles.none}>{describeNothing({ isEnded, isFiltered: only !== null })}</p>}
        </div>
        <TickStrip
          rows={rows}
          current={finder.current ?? place.range?.from ?? null}
          found={finder.found}
          errors={finder.errors}
          gapLines={state.gaps.map(({ beforeLine }) => beforeLine)}
          heightPx={scroller.geometry.windowPx}
          onGo={place.goTo}
        />
      </div>
      <Foot state={state} shownCount={only?.length ?? null} onGo={place.goTo} />
    </section>
  )
}

function describeNothing({ isEnded, isFiltered }: { isEnded: boolean; isFiltered: boolean }): string {
  if (isFiltered) return 'No line of these streams.'
  return isEnded ? 'The job printed nothing.' : 'No output yet. It appears here as the job prints it.'
}
