import { type ReactNode, useState } from 'react'
import type { Resource } from '../ground/resource.ts'
import { Button } from './button.tsx'
import { NotRead } from './page-states.tsx'
import { SidePanel } from './side-panel.tsx'

/** What a panel reports to its list. */
export interface PanelCallbacks {
  onClose: () => void
  /** Called after the object was changed or deleted. */
  onChange: () => void
}

export interface FormCallbacks {
  onCancel: () => void
  onDone: (id: string) => void
}

interface ObjectPanelProps<Value> extends PanelCallbacks {
  /** The object that the panel shows. Its `value` is null if the object does not exist. */
  of: Pick<Resource<Value | null>, 'value' | 'failure' | 'read'>
  title: (value: Value) => ReactNode
  /** The title while the object is loading or missing: "User". */
  noun: string
  /** Shown if the object does not exist. */
  gone: ReactNode
  editText?: string
  /** Renders the form that edits the object; false: the viewer may not change it. */
  form?: ((value: Value, ends: FormCallbacks) => ReactNode) | false
  /** true: the facts stay visible below the form. */
  keepsFacts?: boolean
  children: (value: Value, ends: { changed: () => void; deleted: () => void }) => ReactNode
}

/** A side panel that shows an object of a list and can edit it. */
export function ObjectPanel<Value>({ of, title, noun, gone, form, children, ...rest }: ObjectPanelProps<Value>) {
  const { editText = 'Edit', keepsFacts = false, onClose, onChange } = rest
  const [isEdited, setEdited] = useState(false)
  const { value } = of
  const changed = () => {
    setEdited(false)
    of.read()
    onChange()
  }
  const deleted = () => {
    onChange()
    onClose()
  }
  return (
    <SidePanel
      title={value ? title(value) : noun}
      onClose={onClose}
      actions={value && form && !isEdited && <Button onClick={() => setEdited(true)}>{editText}</Button>}
    >
      {value === undefined && <NotRead of={of} />}
      {value === null && gone}
      {value && form && isEdited && form(value, { onCancel: () => setEdited(false), onDone: changed })}
      {value && (!isEdited || keepsFacts) && children(value, { changed, deleted })}
    </SidePanel>
  )
}
