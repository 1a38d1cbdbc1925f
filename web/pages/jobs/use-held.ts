import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { useLayer } from '../../layers/layer-store.ts'
import type { JobList } from '../../rows/job-list.ts'

/** A finger is still on its way to a row that it let go of. */
const touchHoldMs = 700

/**
 * Nothing moves under the pointer, for a moment after a touch, below a dialog, while rows are selected, or where the
 * reader has scrolled to.
 */
export function useHeld(list: JobList, isSelecting: boolean) {
  const [isUnderPointer, setUnderPointer] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const hasLayer = useLayer() !== null
  const isHeld = isUnderPointer || isScrolled || isSelecting || hasLayer
  useEffect(() => list.hold(isHeld), [list, isHeld])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const hold = () => {
    clearTimeout(timer.current)
    list.hold(true)
    setUnderPointer(true)
  }
  const release = ({ pointerType }: PointerEvent) => {
    if (pointerType === 'mouse') setUnderPointer(false)
    else timer.current = setTimeout(() => setUnderPointer(false), touchHoldMs)
  }
  return { setScrolled, pointer: { onPointerEnter: hold, onPointerDown: hold, onPointerLeave: release } }
}
