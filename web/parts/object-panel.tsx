import { type ReactNode, useState } from 'react'
import type { Resource } from '../ground/resource.ts'
import { Button } from './button.tsx'
import { NotRead } from './page-states.tsx'
import { SidePanel } from './side-panel.tsx'

/** What a panel reports to its list. */
export interface PanelCallbacks {
  onClose: () => void
  /** The object was changed or deleted. */
  onChange: () => void
}

export interface FormCallbacks {
  onCancel: () => void
  onDone: (id: string) => void
}

interface ObjectPanelProps<Value> extends PanelCallbacks {
  /** null: the object does not exist. */
  of: Pick<Resource<Value | null>, 'value' | 'failure' | 'read'>
  title: (value: Value) => ReactNode
  /** The title while there is no object: "User". */
  noun: string
  /** In place of an object that does not exist. */
  gone: ReactNode
  editText?: string
  /** In place of the facts, or above them, on request; false: the viewer may not change the object. */
  form?: ((value: Value, ends: FormCallbacks) => ReactNode) | false
  /** The facts stay below the form. */
  keepsFacts?: boolean
  children: (value: Value, ends: { changed: () => void; deleted: () => void }) => ReactNode
}

/** One object of a list, which can be edited. */
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
