import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'

/**
 * Scrolls rows of any number and height. The place 12.5 means that half of row 12 is above the window. Browsers limit an
 * element to 16.7 million pixels, so the scroll bar has at most `barPxMax`. If no row is taller and the bar is shorter, the
 * browser scrolls natively. Otherwise wheel and keys move by pixels, and the bar by rows.
 */
export const barPxMax = 8_000_000

interface Geometry {
  rowCount: number
  rowPx: number
  windowPx: number
  /** Heights of the rows that are not `rowPx` high. */
  tall: ReadonlyMap<number, number>
}

export interface Scroller {
  box: (element: HTMLElement | null) => void
  /** Height of the element that makes the scroll bar. */
  barPx: number
  place: number
  geometry: Geometry
  /** Indexes of the rows to draw, without `to`. */
  from: number
  to: number
  isAtEnd: boolean
  scrollTo: (row: number, at?: 'START' | 'CENTER') => void
  scrollToEnd: () => void
  scrollBy: (px: number) => void
  /** Stores measured heights of rows; 0: the row is `rowPx` high. */
  measured: (heights: ReadonlyMap<number, number>) => void
}

const heightOf = ({ rowPx, tall }: Geometry, row: number) => tall.get(row) ?? rowPx

/** Returns the place at which the last row is at the bottom of the window. */
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

export function movePlace(place: number, px: number, geometry: Geometry): number {
  const { rowCount, rowPx, tall } = geometry
  if (tall.size === 0) return place + px / rowPx
  let row = Math.floor(place)
  let left = px + (place - row) * heightOf(geometry, row)
  while (left < 0 && row > 0) left += heightOf(geometry, --row)
  while (row < rowCount && left >= heightOf(geometry, row)) left -= heightOf(geometry, row++)
  return row + Math.max(0, left) / heightOf(geometry, row)
}

/** Returns the distance in pixels from the top of the window to the top of a row. */
export function measureOffset(place: number, row: number, geometry: Geometry): number {
  const top = Math.floor(place)
  const hidden = (place - top) * heightOf(geometry, top)
  if (geometry.tall.size === 0) return (row - top) * geometry.rowPx - hidden
  let offset = -hidden
  for (let each = top; each < row; each++) offset += heightOf(geometry, each)
  for (let each = top - 1; each >= row; each--) offset -= heightOf(geometry, each)
  return offset
}

export const computeBarPx = ({ rowCount, rowPx }: Geometry): number => Math.min(rowCount * rowPx, barPxMax)
const getMaxScrollTop = (geometry: Geometry) => Math.max(1, computeBarPx(geometry) - geometry.windowPx)

export const toPlace = (scrollTop: number, geometry: Geometry): number =>
  Math.min(1, scrollTop / getMaxScrollTop(geometry)) * findEndPlace(geometry)

export const toScrollTop = (place: number, geometry: Geometry): number =>
  (place / Math.max(Number.EPSILON, findEndPlace(geometry))) * getMaxScrollTop(geometry)

const canScrollNatively = ({ rowCount, rowPx, tall }: Geometry) => tall.size === 0 && rowCount * rowPx <= barPxMax

const atEndPx = 4
const overscan = 16
const heightsMax = 5_000

/** `wraps`: rows may have different heights. A change of `key` deletes the measured heights. */
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
      // Setting `scrollTop` to about the same value would stop a smooth scroll.
      if (Math.abs(element.scrollTop - scrollTop) >= 1) element.scrollTop = scrollTop
      latest.current.ownScrollTop = element.scrollTop
    },
    [element],
  )
  const readBar = useCallback((scrollTop: number) => {
    // `move` has set the bar, and its place is more exact than the one computed from the bar.
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

  // Keeps the place when new rows make the bar longer.
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
    barPx: computeBarPx(geometry),
    place: shown,
    geometry,
    // Draws rows above the window too, because scrolling up needs their measured heights.
    from: Math.max(0, Math.floor(shown) - (wraps ? Math.ceil(windowPx / rowPx) : overscan)),
    to: Math.min(rowCount, Math.ceil(shown + windowPx / rowPx) + overscan),
    isAtEnd: (findEndPlace(geometry) - shown) * rowPx <= atEndPx,
    scrollTo,
    scrollToEnd,
    scrollBy,
    measured,
  }
}

/** Distance from the top at which a row is shown. Small if rows wrap, because unmeasured rows above may push it out. */
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

/** Scrolls by the pixels of the wheel, because the scaled scroll bar would move by another distance. */
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
