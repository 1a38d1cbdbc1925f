import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/**
 * Rows of fixed height, also more than a browser can lay out: elements end at 16.7 million pixels. Up to
 * `nativePxMax` the scroll bar is the place. Above it the bar moves by lines, and wheel and keys move by pixels.
 */
export const nativePxMax = 8_000_000

export interface Scroller {
  box: (element: HTMLElement | null) => void
  /** Height of the element that makes the scroll bar. */
  barPx: number
  /** Where the first row of `from` is drawn, from the top of the window. */
  offsetPx: number
  /** Rows in sight, from 0; `to` is behind the last one. */
  from: number
  to: number
  isAtEnd: boolean
  scrollTo: (row: number, place?: 'START' | 'CENTER' | 'END') => void
  scrollToEnd: () => void
}

interface Geometry {
  rowCount: number
  rowPx: number
  windowPx: number
}

export const totalPx = ({ rowCount, rowPx }: Geometry): number => rowCount * rowPx
export const barLength = (geometry: Geometry): number => Math.min(totalPx(geometry), nativePxMax)
export const topMax = (geometry: Geometry): number => Math.max(0, totalPx(geometry) - geometry.windowPx)

/** From the place of the scroll bar to the place in the rows. */
export function toTop(scrollTop: number, geometry: Geometry): number {
  const barMax = Math.max(1, barLength(geometry) - geometry.windowPx)
  if (totalPx(geometry) <= nativePxMax) return Math.min(scrollTop, topMax(geometry))
  return Math.min(topMax(geometry), (scrollTop / barMax) * topMax(geometry))
}

export function toScrollTop(top: number, geometry: Geometry): number {
  const barMax = Math.max(1, barLength(geometry) - geometry.windowPx)
  return totalPx(geometry) <= nativePxMax ? top : (top / Math.max(1, topMax(geometry))) * barMax
}

const endPx = 4
const overscan = 20

export function useScroller(rowCount: number, rowPx: number): Scroller {
  const [element, setElement] = useState<HTMLElement | null>(null)
  const [windowPx, setWindowPx] = useState(0)
  const [top, setTop] = useState(0)
  const geometry = { rowCount, rowPx, windowPx }
  const latest = useRef({ geometry, top, ownScrollTop: -1 })
  latest.current.geometry = geometry
  const isScaled = totalPx(geometry) > nativePxMax

  const move = useCallback(
    (wanted: number) => {
      const { geometry } = latest.current
      const next = Math.max(0, Math.min(topMax(geometry), wanted))
      latest.current.top = next
      setTop(next)
      if (!element) return
      element.scrollTop = toScrollTop(next, geometry)
      latest.current.ownScrollTop = element.scrollTop
    },
    [element],
  )

  const readPlace = useCallback((scrollTop: number) => {
    // The bar was put there by `move`, whose place is more exact.
    if (Math.abs(scrollTop - latest.current.ownScrollTop) < 1) return
    latest.current.ownScrollTop = -1
    latest.current.top = toTop(scrollTop, latest.current.geometry)
    setTop(latest.current.top)
  }, [])
  const moveBy = useCallback((px: number) => move(latest.current.top + px), [move])
  useWindow(element, { onScroll: readPlace, onResize: setWindowPx })
  useWheel(isScaled ? element : null, { rowPx, windowPx, moveBy })

  // More rows make the bar longer: the place in the rows stays.
  // Only the geometry matters.
  useLayoutEffect(() => {
    if (element && isScaled) move(latest.current.top)
  }, [rowCount, windowPx])

  const shownTop = Math.min(top, topMax(geometry))
  const from = Math.max(0, Math.floor(shownTop / rowPx) - overscan)
  const to = Math.min(rowCount, Math.ceil((shownTop + windowPx) / rowPx) + overscan)
  return {
    box: setElement,
    barPx: barLength(geometry),
    offsetPx: from * rowPx - shownTop,
    from,
    to,
    isAtEnd: shownTop >= topMax(geometry) - endPx,
    scrollTo: (row, place = 'CENTER') => {
      const shift = place === 'START' ? 0 : place === 'END' ? windowPx - rowPx : (windowPx - rowPx) / 2
      move(row * rowPx - shift)
    },
    scrollToEnd: () => move(Number.MAX_SAFE_INTEGER),
  }
}

interface WindowListeners {
  onScroll: (scrollTop: number) => void
  onResize: (windowPx: number) => void
}

function useWindow(element: HTMLElement | null, { onScroll, onResize }: WindowListeners) {
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
  moveBy: (px: number) => void
}

/** Moves by the pixels of the wheel, of which the scaled bar would make many lines. */
function useWheel(element: HTMLElement | null, { rowPx, windowPx, moveBy }: WheelUnits) {
  useEffect(() => {
    if (!element) return undefined
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY === 0) return
      event.preventDefault()
      const unit = event.deltaMode === 1 ? rowPx : event.deltaMode === 2 ? windowPx : 1
      moveBy(event.deltaY * unit)
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [element, rowPx, windowPx, moveBy])
}
