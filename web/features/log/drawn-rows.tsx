import { useCallback, useLayoutEffect, useRef } from 'react'
import { useSettings } from '../../ground/settings.ts'
import type { LogLines } from './log-lines.ts'
import { LogRow } from './log-row.tsx'
import styles from './log-view.module.css'
import type { Rows } from './rows.ts'
import { measureOffset, type Scroller } from './scroller.ts'
import type { Finder } from './use-finder.ts'
import type { LogGroups } from './use-log-groups.ts'
import type { Place } from './use-place.ts'

interface DrawnRowsProps {
  scroller: Scroller
  rows: Rows
  folds: LogGroups
  lines: LogLines
  finder: Finder
  place: Place
  startedAt: string | null
}

/**
 * The visible rows. Each is positioned by a transform, so that scrolling causes no layout shift, and a row's height is
 * measured before it is used.
 */
export function DrawnRows({ scroller, rows, folds, lines, finder, place, startedAt }: DrawnRowsProps) {
  const { logTimes, logWraps } = useSettings()
  const list = useRef<HTMLDivElement>(null)
  const { from, to, geometry, measured } = scroller
  const shown = rows.slice(from, to)
  const { range, open, select, toggle, follow } = place
  const { toggle: toggleGroup } = folds
  // Stops following the end, which would scroll the group out of sight.
  const fold = useCallback(
    (line: number) => {
      follow(false)
      toggleGroup(line)
    },
    [follow, toggleGroup],
  )
  useLayoutEffect(() => {
    const elements = [...(list.current?.children ?? [])] as HTMLElement[]
    const isTall = (i: number) => logWraps || geometry.tall.has(from + i) || open.has(shown[i]?.number ?? 0)
    const heights = elements.flatMap((element, i) => (isTall(i) ? [[from + i, element.offsetHeight] as const] : []))
    measured(new Map(heights))
    let offset = measureOffset(scroller.place, from, geometry)
    for (const [i, { style }] of elements.entries()) {
      style.transform = `translateY(${offset}px)`
      offset += geometry.tall.get(from + i) ?? geometry.rowPx
    }
  })
  return (
    <div className={styles.bar} style={{ height: Math.max(scroller.barPx, 1) }}>
      <div className={styles.window} data-wraps={logWraps} ref={list} style={{ height: geometry.windowPx }}>
        {shown.map(({ key, number, gap }) => {
          const group = gap ? undefined : folds.find(number)
          return (
            <LogRow
              key={key}
              number={number}
              gap={gap}
              line={gap ? undefined : lines.line(number)}
              isSelected={!gap && range !== null && number >= range.from && number <= range.to}
              isMatch={!gap && number === finder.current}
              isOpen={!gap && open.has(number)}
              highlighter={finder.highlighter}
              times={logTimes}
              startMs={startedAt === null ? null : Date.parse(startedAt)}
              onSelect={select}
              onToggle={toggle}
              groupCount={group?.count ?? 0}
              isGroupOpen={group?.isOpen ?? false}
              onFold={fold}
            />
          )
        })}
      </div>
    </div>
  )
}
