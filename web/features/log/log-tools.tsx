import { ArrowDownToLine, Clock, Download, WrapText } from 'lucide-react'
import { useRef, useState } from 'react'
import { serverNowMs } from '../../ground/server-clock.ts'
import { changeSettings, useSettings } from '../../ground/settings.ts'
import { Button } from '../../parts/button.tsx'
import { MenuButton } from '../../parts/menu-button.tsx'
import { downloadLog } from './download.ts'
import { allStreams } from './line-store.ts'
import { nextTimes } from './line-time.ts'
import styles from './log-tools.module.css'
import { parseTarget } from './range.ts'
import { Matches, SearchField } from './search-field.tsx'
import type { Finder } from './use-finder.ts'
import { focusLines, goToFieldId } from './use-log-keys.ts'
import type { Place } from './use-place.ts'
import { type StreamFilter, streamNames } from './use-stream-filter.ts'

interface LogToolsProps {
  finder: Finder
  filter: StreamFilter
  place: Place
  isLive: boolean
  jobId: string
  run: number
}

export function LogTools({ finder, filter, place, isLive, jobId, run }: LogToolsProps) {
  const { isFollowing, follow, jump } = place
  const downloads = [
    { text: 'Plain text', detail: 'without colours', run: () => void downloadLog(jobId, run, 'PLAIN') },
    { text: 'As printed', detail: 'with colours', run: () => void downloadLog(jobId, run, 'RAW') },
    { text: 'JSON lines', detail: 'with times, streams and gaps', run: () => void downloadLog(jobId, run, 'JSONL') },
  ]
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
      <Errors finder={finder} />
      <span className={styles.space} />
      <GoTo onGo={jump} />
      <Streams filter={filter} />
      <Choices />
      <MenuButton
        look="quiet"
        label={
          <>
            <Download size={14} aria-hidden="true" /> <span>Download</span>
          </>
        }
        items={downloads}
      />
      {isLive && (
        <Button aria-pressed={isFollowing} title="Follow the end (f)" onClick={() => follow(!isFollowing)}>
          <ArrowDownToLine size={14} aria-hidden="true" /> <span>Follow</span>
        </Button>
      )}
    </div>
  )
}

function Errors({ finder: { errors, findErrors, current, moveError } }: { finder: Finder }) {
  if (errors === null)
    return (
      <Button look="quiet" title="Find errors (e)" onClick={findErrors}>
        Errors
      </Button>
    )
  const isFound = errors.count > 0 || errors.failure
  if (!isFound) return errors.isComplete ? <span className={styles.faint}>No error lines</span> : null
  return (
    <span className={styles.errors}>
      Errors
      <Matches of="error" found={errors} current={current} onMove={moveError} />
    </span>
  )
}

function GoTo({ onGo }: { onGo: Place['jump'] }) {
  const [isWrong, setWrong] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const go = () => {
    const target = parseTarget(field.current?.value ?? '', serverNowMs())
    setWrong(target === null)
    if (!target || !field.current) return
    field.current.value = ''
    focusLines()
    void onGo(target)
  }
  return (
    <input
      ref={field}
      id={goToFieldId}
      className={styles.goTo}
      aria-label="Go to a line or a time"
      aria-invalid={isWrong}
      placeholder="Line or 14:02"
      title="Go to a line, or to a time like 14:02:11 (:)"
      autoComplete="off"
      onChange={() => setWrong(false)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') go()
        if (key === 'Escape') focusLines()
      }}
    />
  )
}

const streamTitles = { STDOUT: 'Standard output', STDERR: 'Error output', SYSTEM: 'Messages of Berth' } as const

const Streams = ({ filter: { streams, toggle } }: { filter: StreamFilter }) => (
  <span className={styles.group} role="group" aria-label="Streams">
    {allStreams.map((stream) => (
      <Button
        key={stream}
        look="quiet"
        aria-label={`${streamNames[stream]}: ${streamTitles[stream]}`}
        aria-pressed={streams.includes(stream)}
        title={streamTitles[stream]}
        onClick={() => toggle(stream)}
      >
        {streamNames[stream]}
      </Button>
    ))}
  </span>
)

const timeTitles = { OFF: 'Show times (i)', EXACT: 'Times of the clock (i)', RELATIVE: 'Times since the start (i)' }

function Choices() {
  const { logTimes, logWraps } = useSettings()
  return (
    <>
      <Button
        look="quiet"
        aria-pressed={logWraps}
        title="Wrap lines (w)"
        onClick={() => changeSettings({ logWraps: !logWraps })}
      >
        <WrapText size={14} aria-hidden="true" /> <span>Wrap</span>
      </Button>
      <Button
        look="quiet"
        aria-pressed={logTimes !== 'OFF'}
        title={timeTitles[logTimes]}
        onClick={() => changeSettings({ logTimes: nextTimes[logTimes] })}
      >
        <Clock size={14} aria-hidden="true" /> <span>{logTimes === 'RELATIVE' ? 'Elapsed' : 'Times'}</span>
      </Button>
    </>
  )
}
