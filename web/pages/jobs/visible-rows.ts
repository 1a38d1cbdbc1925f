import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

interface VisibleRows {
  from: number
  to: number
}

/** Number of rows drawn above and below the visible ones. */
const rowsAround = 10
/** Rows are added and removed in groups of this size, so that the table is not drawn again for every scrolled row. */
const group = 6

interface Rows {
  count: number
  height: number
  around?: number
}

/** Finds the rows to draw: the visible ones and `around` more on both sides. Rows have a fixed height. */
export function findVisible(top: number, boxHeight: number, { count, height, around = rowsAround }: Rows): VisibleRows {
  const first = Math.floor(top / height / group) * group - around
  const last = Math.ceil((top + boxHeight) / height / group) * group + around
  const to = Math.max(0, Math.min(count, last))
  return { from: Math.max(0, Math.min(first, to)), to }
}

/** Returns the rows to draw in a scrolling box. Visible rows are drawn before the next frame, also after a jump. */
export function useVisibleRows(
  box: RefObject<HTMLElement | null>,
  { ids, height, headHeight }: { ids: readonly string[]; height: number; headHeight: number },
): VisibleRows {
  const count = ids.length
  const [shown, setShown] = useState<VisibleRows>({ from: 0, to: 0 })
  const current = useRef(shown)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const update = useCallback(
    (isScroll: boolean) => {
      const element = box.current
      if (!element) return
      const top = Math.max(0, element.scrollTop - headHeight)
      const { from, to } = current.current
      const isBlank = top / height < from || Math.min(count, (top + element.clientHeight) / height) > to
      // After a jump, draws only the visible rows first, because drawing all takes too long for one frame.
      const around = isBlank ? 0 : rowsAround
      const next = findVisible(top, element.clientHeight, { count, height, around })
      if (isBlank) {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => update(false))
      }
      if (next.from === from && next.to === to) return
      current.current = next
      if (isScroll && isBlank) flushSync(() => setShown(next))
      else setShown(next)
    },
    [box, count, height, headHeight],
  )
  useAnchor(box, ids, height, shown, headHeight)
  useLayoutEffect(() => update(false), [update])
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const onScroll = () => update(true)
    element.addEventListener('scroll', onScroll, { passive: true })
    const observer = new ResizeObserver(() => update(false))
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [box, update])
  return { from: Math.min(shown.from, count), to: Math.min(shown.to, count) }
}

/** Keeps the first visible row in place when rows are added above it, unless the list is scrolled to its top. */
function useAnchor(
  box: RefObject<HTMLElement | null>,
  ids: readonly string[],
  height: number,
  { to }: VisibleRows,
  headHeight: number,
) {
  const before = useRef({ ids, height })
  useLayoutEffect(() => {
    const { ids: old, height: oldHeight } = before.current
    before.current = { ids, height }
    const element = box.current
    if (!element || old === ids || oldHeight !== height || element.scrollTop <= headHeight) return
    // Finds the first visible row that still exists.
    for (let i = Math.floor((element.scrollTop - headHeight) / height); i < Math.min(to, old.length); i++) {
      const now = ids[i] === old[i] ? i : ids.indexOf(old[i] ?? '')
      if (now < 0) continue
      element.scrollTop += (now - i) * height
      return
    }
  }, [ids, height, box, to, headHeight])
}
