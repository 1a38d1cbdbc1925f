import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { createStore } from '../ground/store.ts'
import { Button } from './button.tsx'
import { formatServerText } from './server-text.ts'
import styles from './toasts.module.css'

interface Toast {
  id: number
  content: ReactNode
  isTrouble: boolean
}

const toasts = createStore<readonly Toast[]>([])
let lastId = 0
const shownMs = 6_000
const toastsMax = 4

const dismiss = (id: number) => toasts.change(toasts.read().filter((each) => each.id !== id))

interface ToastOptions {
  isTrouble?: boolean
  /** true: shown until the user dismisses it; the default for trouble. */
  stays?: boolean
}

/** Shows a short message. */
export function showToast(content: ReactNode, { isTrouble = false, stays = isTrouble }: ToastOptions = {}): void {
  const id = ++lastId
  toasts.change([...toasts.read(), { id, content, isTrouble }].slice(-toastsMax))
  if (!stays) setTimeout(() => dismiss(id), shownMs)
}

export function Toasts() {
  const shown = toasts.useValue()
  return (
    <section className={styles.toasts} aria-live="polite" aria-label="Notes">
      {shown.map(({ id, content, isTrouble }) => (
        <div key={id} className={styles.toast} data-trouble={isTrouble}>
          <div>{isTrouble && typeof content === 'string' ? formatServerText(content) : content}</div>
          <Button look="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <X size={14} />
          </Button>
        </div>
      ))}
    </section>
  )
}
