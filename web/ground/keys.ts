import { useEffect, useRef } from 'react'
import { tinykeys } from 'tinykeys'
import { readSettings } from './settings.ts'
import { createStore } from './store.ts'

export interface KeyBinding {
  /** In the syntax of tinykeys: `g j`, `$mod+k`. */
  keys: string
  help: string
  run: (event: KeyboardEvent) => void
}

/** Active key bindings by component, also listed in the help. */
const groups = new Map<symbol, { title: string; bindings: readonly KeyBinding[] }>()
const shown = createStore<readonly { title: string; bindings: readonly KeyBinding[] }[]>([])

/** The title of the group of keys that work on every page. */
export const everywhere = 'Everywhere'

/** true: the page binds the same keys, which replaces the binding for every page. */
const isReplaced = (title: string, keys: string) =>
  title === everywhere &&
  [...groups.values()].some((group) => group.title !== everywhere && hasKeys(group.bindings, keys))

const hasKeys = (bindings: readonly KeyBinding[], keys: string) => bindings.some((each) => each.keys === keys)

/** Maximum time between the keys of a sequence such as `g j`, as in tinykeys. */
const sequenceMsMax = 1_000
let typed = { key: '', atMs: 0, before: '' }

function noteKey({ key, timeStamp, target }: KeyboardEvent) {
  const before = timeStamp - typed.atMs < sequenceMsMax ? typed.key : ''
  typed = { key: isField(target) ? '' : key, atMs: timeStamp, before }
}

/** true: the keys end a sequence. `a` after `g` opens the approvals and approves nothing. */
const endsSequence = (keys: string) =>
  [...groups.values()].some((group) => hasKeys(group.bindings, `${typed.before} ${keys}`))

function publish() {
  const unreplaced = [...groups.values()].map(({ title, bindings }) => ({
    title,
    bindings: bindings.filter(({ keys }) => !isReplaced(title, keys)),
  }))
  shown.change(unreplaced.filter(({ bindings }) => bindings.length > 0))
}

export const useKeyGroups = shown.useValue

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const isInLayer = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('[role=dialog], [role=alertdialog], [role=menu]') !== null

/** Single keys never fire in a field or a dialog, and the user can switch them off. */
function mayFire({ keys }: KeyBinding, event: KeyboardEvent): boolean {
  // While the log-in dialog is open, no key reaches the page.
  if (document.querySelector('dialog:modal')) return false
  if (keys.includes('$mod')) return true
  return readSettings().singleKeys && !isField(event.target) && !isInLayer(event.target)
}

/** Binds keys while the component is shown. */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings)
  latest.current = bindings
  const names = bindings.map(({ keys }) => keys).join('\n')
  // Rebinds only if the keys change. The handlers are read from `latest` when a key fires.
  useEffect(() => {
    const id = Symbol(title)
    groups.set(id, { title, bindings: latest.current })
    publish()
    const handlers = latest.current.map(({ keys }, i) => {
      const fire = (event: KeyboardEvent) => {
        const binding = latest.current[i]
        if (!binding || !mayFire(binding, event) || isReplaced(title, keys) || endsSequence(keys)) return
        event.preventDefault()
        binding.run(event)
      }
      return [keys, fire] as const
    })
    // Adding the same listener several times registers it only once.
    window.addEventListener('keydown', noteKey, { capture: true })
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
