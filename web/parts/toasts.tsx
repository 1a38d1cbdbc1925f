import { X } from 'lucide-react'
import { type ReactNode, useSyncExternalStore } from 'react'
import { Button } from './button.tsx'
import styles from './toasts.module.css'

interface Toast {
  id: number
  content: ReactNode
  isTrouble: boolean
}

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()
const shownMs = 6_000
const toastsMax = 4

function change(next: readonly Toast[]) {
  toasts = next
  for (const listener of listeners) listener()
}

const dismiss = (id: number) => change(toasts.filter((each) => each.id !== id))

interface ToastOptions {
  isTrouble?: boolean
  /** true: until it is dismissed, as trouble does. */
  stays?: boolean
}

/** A short note. */
export function showToast(content: ReactNode, { isTrouble = false, stays = isTrouble }: ToastOptions = {}): void {
  const id = ++lastId
  change([...toasts, { id, content, isTrouble }].slice(-toastsMax))
  if (!stays) setTimeout(() => dismiss(id), shownMs)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <section className={styles.toasts} aria-live="polite" aria-label="Notes">
      {shown.map(({ id, content, isTrouble }) => (
        <div key={id} className={styles.toast} data-trouble={isTrouble}>
          <div>{content}</div>
          <Button look="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <X size={14} />
          </Button>
        </div>
      ))}
    </section>
  )
}
