import { useState } from 'react'
import { AddPoolNodeDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { type FieldTexts, Form, TextField } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'

const empty = { name: '', engine: '', cpu: '', memoryGib: '', model: '', gpuMemoryGib: '', count: '0' }

const gibBytes = 2 ** 30
const toBytes = (gib: string) => Math.round(Number(gib) * gibBytes)

/**
 * Adds a node whose GPUs are all of one model; the command line can add others. If the container engine of the machine
 * does not answer the server, the server refuses the node and says what to do.
 */
export function AddNodeForm({ pool, onClose }: { pool: string; onClose: () => void }) {
  const [typed, setTyped] = useState(empty)
  const field = (key: keyof typeof empty, { isNumber = true, ...texts }: FieldTexts & { isNumber?: boolean }) => (
    <TextField
      {...texts}
      value={typed[key]}
      inputMode={isNumber ? 'decimal' : 'text'}
      onChange={(text) => setTyped({ ...typed, [key]: text })}
    />
  )
  const submit = async () => {
    const count = Number(typed.count)
    const gpus = [{ model: typed.model, memoryBytes: toBytes(typed.gpuMemoryGib), count }]
    const engine = typed.engine.trim()
    const amounts = {
      ...(typed.cpu && { cpu: Number(typed.cpu) }),
      ...(typed.memoryGib && { memoryBytes: toBytes(typed.memoryGib) }),
      ...(count > 0 && { gpus }),
    }
    const variables = { input: { pool, name: typed.name.trim(), ...(engine && { engine }), ...amounts } }
    const { addNode } = await client.request(AddPoolNodeDocument, variables)
    if (isRefused(addNode)) return toRefusal(addNode)
    showToast([`Added ${addNode.node.name}`, ...addNode.troubles].join('. '))
    onClose()
    return null
  }
  return (
    <Form submitText="Add node" onCancel={onClose} onSubmit={submit}>
      {field('name', { label: 'Name', path: 'name', isNumber: false })}
      {field('engine', {
        label: 'Container engine',
        help: 'ssh://user@host of a machine in a pool of machines. The server asks it for what is empty below.',
        path: 'engine',
        isNumber: false,
      })}
      {field('cpu', { label: 'Cores', path: 'cpu' })}
      {field('memoryGib', { label: 'Memory in GiB', path: 'memoryBytes' })}
      {field('count', { label: 'GPUs', path: 'gpus.0.count' })}
      {field('model', { label: 'GPU model', path: 'gpus.0.model', isNumber: false })}
      {field('gpuMemoryGib', { label: 'Memory of each GPU in GiB', path: 'gpus.0.memoryBytes' })}
    </Form>
  )
}
