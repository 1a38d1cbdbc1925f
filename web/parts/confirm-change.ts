import { type Confirmation, openLayer } from '../ground/layer-store.ts'
import { isRefused, type Refused } from './refusal.ts'
import { showToast } from './toasts.tsx'

interface ConfirmedChange<Result>
  extends Pick<Confirmation, 'title' | 'effect' | 'command' | 'confirmText' | 'keepText'> {
  change: () => Promise<Result>
  /** The message after success. */
  toast: string
  onDone: () => void
}

/** Asks for confirmation before a mutation. The dialog shows a refusal of the server. */
export function confirmChange<Result extends { __typename: string }>({
  change,
  toast,
  onDone,
  ...texts
}: ConfirmedChange<Result>): void {
  const run = async () => {
    const result = await change()
    if (isRefused(result)) return (result as Refused<Result> & { message: string }).message
    showToast(toast)
    onDone()
    return null
  }
  openLayer({ kind: 'CONFIRM', confirmation: { ...texts, run } })
}
