import type { ClipboardEvent, HTMLAttributes, KeyboardEvent } from 'react'
import { copyText } from '../../parts/copy-text.ts'
import { showToast } from '../../parts/toasts.tsx'
import { toPlainText } from './ansi.ts'
import type { LogLines } from './log-lines.ts'
import type { Scroller } from './scroller.ts'
import type { Place } from './use-place.ts'

interface BoxOptions {
  lines: LogLines
  scroller: Scroller
  place: Place
}

const copiedLinesMax = 50_000

/** Handles keys and copying in the box with the lines. */
export function useBoxEvents({ lines, scroller, place }: BoxOptions): HTMLAttributes<HTMLElement> {
  const { scrollBy, scrollTo, scrollToEnd, geometry, isAtEnd } = scroller
  const { rowPx, windowPx } = geometry
  const { range, isFollowing, follow } = place
  const moves: Readonly<Record<string, { isUp: boolean; run: () => void }>> = {
    ArrowUp: { isUp: true, run: () => scrollBy(-2 * rowPx) },
    ArrowDown: { isUp: false, run: () => scrollBy(2 * rowPx) },
    PageUp: { isUp: true, run: () => scrollBy(rowPx - windowPx) },
    PageDown: { isUp: false, run: () => scrollBy(windowPx - rowPx) },
    Home: { isUp: true, run: () => scrollTo(0, 'START') },
    End: { isUp: false, run: scrollToEnd },
  }
  const leave = () => isFollowing && follow(false)
  const copyRange = async ({ from, to }: { from: number; to: number }) => {
    const last = Math.min(to, from + copiedLinesMax - 1)
    const texts = await lines.readTexts(from, last)
    await copyText(`${texts.map(toPlainText).join('\n')}\n`)
    showToast(last === from ? 'Line copied' : `${last - from + 1} lines copied`)
  }
  return {
    onWheel: ({ deltaY }) => {
      if (deltaY < 0) leave()
      else if (deltaY > 0 && isAtEnd && !lines.state().isFinal && !isFollowing) follow(true)
    },
    onTouchMove: leave,
    onPointerDown: ({ target, currentTarget }) => target === currentTarget && leave(),
    onKeyDown: (event: KeyboardEvent) => {
      const move = moves[event.key]
      if (!move || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      if (move.isUp) leave()
      move.run()
    },
    onCopy: (event: ClipboardEvent) => {
      const selection = document.getSelection()
      if (!selection || selection.isCollapsed) {
        if (range) void copyRange(range)
        return
      }
      const text = readSelection(selection, lines)
      if (text === null) return
      event.preventDefault()
      event.clipboardData.setData('text/plain', text)
    },
  }
}

const rowOf = (node: Node) =>
  (node instanceof Element ? node : node.parentElement)?.closest<HTMLElement>('[data-line]') ?? null
const textOf = (row: HTMLElement) => row.querySelector('[data-text]') ?? row

/**
 * Returns the selected text as the job printed it, including folded lines and without formatting of JSON. null: the
 * selection lies in one line.
 */
function readSelection(selection: Selection, lines: LogLines): string | null {
  const range = selection.getRangeAt(0)
  const [first, last] = [rowOf(range.startContainer), rowOf(range.endContainer)]
  if (!first || !last || first === last) return null
  const plain = (row: HTMLElement) => toPlainText(lines.line(Number(row.dataset['line']))?.text ?? '')
  const texts = [plain(first).slice(countBefore(textOf(first), range.startContainer, range.startOffset))]
  for (let row = first.nextElementSibling; row instanceof HTMLElement && row !== last; row = row.nextElementSibling)
    if (row.dataset['line'] !== undefined) texts.push(plain(row))
  const count = countBefore(textOf(last), range.endContainer, range.endOffset)
  return [...texts, plain(last).slice(0, count)].join('\n')
}

/** Counts the characters of `element` before the point (`node`, `offset`). */
function countBefore(element: Element, node: Node, offset: number): number {
  const range = document.createRange()
  range.selectNodeContents(element)
  if (element.contains(node)) range.setEnd(node, offset)
  else range.collapse(true)
  return range.toString().length
}
