import { useEffect, useRef, useSyncExternalStore } from 'react'
import { tinykeys } from 'tinykeys'
import { readSettings } from './settings.ts'

export interface KeyBinding {
  /** Of tinykeys: `g j`, `$mod+k`. */
  keys: string
  help: string
  run: (event: KeyboardEvent) => void
}

/** Bindings of the page that is shown, for the help. */
const groups = new Map<symbol, { title: string; bindings: readonly KeyBinding[] }>()
const listeners = new Set<() => void>()
let shown: readonly { title: string; bindings: readonly KeyBinding[] }[] = []

function publish() {
  shown = [...groups.values()]
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useKeyGroups = () => useSyncExternalStore(subscribe, () => shown)

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const isInLayer = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('[role=dialog], [role=alertdialog], [role=menu]') !== null

/** Single keys never fire in a field or a dialog, and can be switched off. */
function mayFire({ keys }: KeyBinding, event: KeyboardEvent): boolean {
  // While a person logs in again, no key reaches the page.
  if (document.querySelector('dialog:modal')) return false
  if (keys.includes('$mod')) return true
  return readSettings().singleKeys && !isField(event.target) && !isInLayer(event.target)
}

/** Binds keys while the component is shown. */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings)
  latest.current = bindings
  const names = bindings.map(({ keys }) => keys).join('\n')
  // Other keys are other bindings; what they run is read when they fire.
  useEffect(() => {
    const id = Symbol(title)
    groups.set(id, { title, bindings: latest.current })
    publish()
    const handlers = latest.current.map(({ keys }, i) => {
      const fire = (event: KeyboardEvent) => {
        const binding = latest.current[i]
        if (!binding || !mayFire(binding, event)) return
        event.preventDefault()
        binding.run(event)
      }
      return [keys, fire] as const
    })
    // The library alone would also ignore keys with Ctrl or ⌘ in fields; `mayFire` decides about fields.
    const ignore = ({ repeat, isComposing }: KeyboardEvent) => repeat || isComposing
    const unbind = tinykeys(window, Object.fromEntries(handlers), { ignore })
    return () => {
      unbind()
      groups.delete(id)
      publish()
    }
  }, [title, names])
}
