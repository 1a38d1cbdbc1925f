import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { JobList } from '../../features/jobs/rows/job-list.ts'
import { useLayer } from '../../ground/layer-store.ts'

/** The list stays held for this time after a touch, because the user may be about to tap a row. */
const touchHoldMs = 700

/**
 * Holds the list, so that no row moves, while the pointer is over it, for a moment after a touch, while a dialog is open,
 * while rows are selected, or when the list is scrolled down.
 */
export function useHeld(list: JobList, isSelecting: boolean) {
  const [isUnderPointer, setUnderPointer] = useState(false)
  const [isScrolled, setScrolled] = useState(list.place.top > 0)
  const hasLayer = useLayer() !== null
  const isHeld = isUnderPointer || isScrolled || isSelecting || hasLayer
  // A ref, because the effect of an earlier render may run after the pointer has come back.
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
