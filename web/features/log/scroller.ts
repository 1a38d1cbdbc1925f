import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'

/**
 * Rows of any number and height. The place is the row at the top of the window and the part of it that is above: 12.5 is
 * half of row 12. Elements end at 16.7 million pixels, so the scroll bar has at most `barPxMax`. Without taller rows a bar
 * below that scrolls natively; otherwise wheel and keys move by pixels, and the bar by rows.
 */
export const barPxMax = 8_000_000

interface Geometry {
  rowCount: number
  rowPx: number
  windowPx: number
  /** Rows that are not `rowPx` high. */
  tall: ReadonlyMap<number, number>
}

export interface Scroller {
  box: (element: HTMLElement | null) => void
  /** Height of the element that makes the scroll bar. */
  barPx: number
  place: number
  geometry: Geometry
  /** Rows to draw, from 0; `to` is behind the last one. */
  from: number
  to: number
  isAtEnd: boolean
  scrollTo: (row: number, at?: 'START' | 'CENTER') => void
  scrollToEnd: () => void
  scrollBy: (px: number) => void
  /** Takes the measured heights of rows; 0: as high as others. */
  measured: (heights: ReadonlyMap<number, number>) => void
}

const heightOf = ({ rowPx, tall }: Geometry, row: number) => tall.get(row) ?? rowPx

/** The place at which the last row is at the bottom of the window. */
export function findEndPlace(geometry: Geometry): number {
  const { rowCount, rowPx, windowPx, tall } = geometry
  if (tall.size === 0) return Math.max(0, rowCount - windowPx / rowPx)
  let left = windowPx
  for (let row = rowCount - 1; row >= 0; row--) {
    const height = heightOf(geometry, row)
    if (height >= left) return row + (height - left) / height
    left -= height
  }
  return 0
}

/** Moves a place by pixels. */
export function movePlace(place: number, px: number, geometry: Geometry): number {
  const { rowCount, rowPx, tall } = geometry
  if (tall.size === 0) return place + px / rowPx
  let row = Math.floor(place)
  let left = px + (place - row) * heightOf(geometry, row)
  while (left < 0 && row > 0) left += heightOf(geometry, --row)
  while (row < rowCount && left >= heightOf(geometry, row)) left -= heightOf(geometry, row++)
  return row + Math.max(0, left) / heightOf(geometry, row)
}

/** Pixels from the top of the window to the top of a row. */
export function measureOffset(place: number, row: number, geometry: Geometry): number {
  const top = Math.floor(place)
  const hidden = (place - top) * heightOf(geometry, top)
  if (geometry.tall.size === 0) return (row - top) * geometry.rowPx - hidden
  let offset = -hidden
  for (let each = top; each < row; each++) offset += heightOf(geometry, each)
  for (let each = top - 1; each >= row; each--) offset -= heightOf(geometry, each)
  return offset
}

export const barLength = ({ rowCount, rowPx }: Geometry): number => Math.min(rowCount * rowPx, barPxMax)
const getMaxScrollTop = (geometry: Geometry) => Math.max(1, barLength(geometry) - geometry.windowPx)

export const toPlace = (scrollTop: number, geometry: Geometry): number =>
  Math.min(1, scrollTop / getMaxScrollTop(geometry)) * findEndPlace(geometry)

export const toScrollTop = (place: number, geometry: Geometry): number =>
  (place / Math.max(Number.EPSILON, findEndPlace(geometry))) * getMaxScrollTop(geometry)

const canScrollNatively = ({ rowCount, rowPx, tall }: Geometry) => tall.size === 0 && rowCount * rowPx <= barPxMax

const atEndPx = 4
const overscan = 16
const heightsMax = 5_000

/** `wraps`: rows are of different heights before they are measured. A change of `key` forgets the heights. */
export function useScroller(
  rowCount: number,
  rowPx: number,
  { wraps, key }: { wraps: boolean; key: string },
): Scroller {
  const [element, setElement] = useState<HTMLElement | null>(null)
  const [windowPx, setWindowPx] = useState(0)
  const [place, setPlace] = useState(0)
  const { tall, measured } = useHeights(rowPx, key)
  const geometry = useMemo(() => ({ rowCount, rowPx, windowPx, tall }), [rowCount, rowPx, windowPx, tall])
  const latest = useRef({ geometry, place, ownScrollTop: -1 })
  latest.current.geometry = geometry

  const move = useCallback(
    (wanted: number) => {
      const { geometry } = latest.current
      const next = Math.max(0, Math.min(findEndPlace(geometry), wanted))
      latest.current.place = next
      setPlace(next)
      if (!element) return
      const scrollTop = toScrollTop(next, geometry)
      // A bar that is there already may be in a smooth move, which a new value would end.
      if (Math.abs(element.scrollTop - scrollTop) >= 1) element.scrollTop = scrollTop
      latest.current.ownScrollTop = element.scrollTop
    },
    [element],
  )
  const readBar = useCallback((scrollTop: number) => {
    // The bar was put there by `move`, whose place is more exact.
    if (Math.abs(scrollTop - latest.current.ownScrollTop) < 1) return
    latest.current.ownScrollTop = -1
    latest.current.place = toPlace(scrollTop, latest.current.geometry)
    setPlace(latest.current.place)
  }, [])
  const scrollBy = useCallback(
    (px: number) => move(movePlace(latest.current.place, px, latest.current.geometry)),
    [move],
  )
  useScrollAndResize(element, { onScroll: readBar, onResize: setWindowPx })
  useWheel(canScrollNatively(geometry) && !wraps ? null : element, { rowPx, windowPx, scrollBy })

  // More rows make the bar longer: the place stays.
  useLayoutEffect(() => {
    if (element && windowPx > 0) move(latest.current.place)
  }, [element, geometry, windowPx, move])

  const shown = Math.min(place, findEndPlace(geometry))
  const scrollToEnd = useCallback(() => move(Number.MAX_SAFE_INTEGER), [move])
  const scrollTo = useCallback(
    (row: number, at: 'START' | 'CENTER' = 'CENTER') => {
      const { geometry } = latest.current
      move(movePlace(row, at === 'START' ? 0 : -pxAbove(geometry, wraps), geometry))
    },
    [move, wraps],
  )
  return {
    box: setElement,
    barPx: barLength(geometry),
    place: shown,
    geometry,
    // Heights above the place are needed to move up by pixels.
    from: Math.max(0, Math.floor(shown) - (wraps ? Math.ceil(windowPx / rowPx) : overscan)),
    to: Math.min(rowCount, Math.ceil(shown + windowPx / rowPx) + overscan),
    isAtEnd: (findEndPlace(geometry) - shown) * rowPx <= atEndPx,
    scrollTo,
    scrollToEnd,
    scrollBy,
    measured,
  }
}

/** Pixels above a row that is shown among others. Rows that wrap are measured later: few of them keep it in sight. */
const pxAbove = ({ rowPx, windowPx }: Geometry, wraps: boolean) => (wraps ? 3 * rowPx : (windowPx - rowPx) / 2)

function useHeights(rowPx: number, key: string) {
  const [heights, setHeights] = useState<{ key: string; tall: ReadonlyMap<number, number> }>({ key, tall: new Map() })
  const known = useMemo(() => (heights.key === key ? heights.tall : new Map<number, number>()), [heights, key])
  const latest = useRef(known)
  latest.current = known
  const measured = useCallback(
    (changed: ReadonlyMap<number, number>) => {
      const tall = new Map(latest.current.size < heightsMax ? latest.current : [])
      for (const [row, height] of changed)
        if (height === 0 || height === rowPx) tall.delete(row)
        else tall.set(row, height)
      const isSame =
        tall.size === latest.current.size && [...changed].every(([row]) => tall.get(row) === latest.current.get(row))
      if (isSame) return
      latest.current = tall
      setHeights({ key, tall })
    },
    [rowPx, key],
  )
  return { tall: known, measured }
}

interface WindowListeners {
  onScroll: (scrollTop: number) => void
  onResize: (windowPx: number) => void
}

function useScrollAndResize(element: HTMLElement | null, { onScroll, onResize }: WindowListeners) {
  useEffect(() => {
    if (!element) return undefined
    const scrolled = () => onScroll(element.scrollTop)
    const observer = new ResizeObserver(() => onResize(element.clientHeight))
    observer.observe(element)
    onResize(element.clientHeight)
    element.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', scrolled)
    }
  }, [element, onScroll, onResize])
}

interface WheelUnits {
  rowPx: number
  windowPx: number
  scrollBy: (px: number) => void
}

/** Moves by the pixels of the wheel, of which the bar would make other ones. */
function useWheel(element: HTMLElement | null, { rowPx, windowPx, scrollBy }: WheelUnits) {
  useEffect(() => {
    if (!element) return undefined
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY === 0 || event.ctrlKey || event.shiftKey) return
      event.preventDefault()
      const unit = event.deltaMode === 1 ? rowPx : event.deltaMode === 2 ? windowPx : 1
      scrollBy(event.deltaY * unit)
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [element, rowPx, windowPx, scrollBy])
}
