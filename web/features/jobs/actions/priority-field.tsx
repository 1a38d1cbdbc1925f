import { useState } from 'react'
import { TextField } from '../../../parts/form.tsx'
import type { BulkRequest } from './act-on-jobs.ts'

const priorityMax = 50

/** A field that sets `request.priority`. */
export function PriorityField({ request }: { request: BulkRequest }) {
  const [text, setText] = useState(request.priority == null ? '' : String(request.priority))
  const change = (next: string) => {
    setText(next)
    request.priority = next === '' ? null : Number(next)
  }
  return (
    <TextField
      label="Priority, 0 to 50"
      help="Empty: the priority of the level of its user."
      type="number"
      min={0}
      max={priorityMax}
      step={1}
      value={text}
      onChange={change}
    />
  )
}
