import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { JobList } from '../../features/jobs/rows/job-list.ts'
import { useLayer } from '../../ground/layer-store.ts'

/** A finger is still on its way to a row that it let go of. */
const touchHoldMs = 700

/**
 * Nothing moves under the pointer, for a moment after a touch, below a dialog, while rows are selected, or where the
 * reader has scrolled to.
 */
export function useHeld(list: JobList, isSelecting: boolean) {
  const [isUnderPointer, setUnderPointer] = useState(false)
  const [isScrolled, setScrolled] = useState(list.place.top > 0)
  const hasLayer = useLayer() !== null
  const isHeld = isUnderPointer || isScrolled || isSelecting || hasLayer
  // The effect of an earlier render may run after the pointer has come back.
  const isPointed = useRef(false)
  useEffect(() => list.hold(isHeld || isPointed.current), [list, isHeld])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const hold = () => {
    clearTimeout(timer.current)
    isPointed.current = true
    list.hold(true)
    setUnderPointer(true)
  }
  const leave = () => {
    isPointed.current = false
    setUnderPointer(false)
  }
  const release = ({ pointerType }: PointerEvent) => {
    if (pointerType === 'mouse') leave()
    else timer.current = setTimeout(leave, touchHoldMs)
  }
  return { setScrolled, pointer: { onPointerEnter: hold, onPointerDown: hold, onPointerLeave: release } }
}
