import { useState } from 'react'
import { ChangeNodeDocument, type PoolNodeState, RemoveNodeDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { Form, type Refusal, refusalOf, TextField } from '../../parts/form.tsx'
import { plural } from '../../parts/format.ts'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import type { MapNode } from './node-changes.ts'

interface NodeActionsProps {
  node: MapNode
  pool: string
  /** Number of runs on the node; null: not read yet. */
  runCount: number | null
  onRemoved: () => void
}

/** The buttons cordon, drain, uncordon and remove, for viewers with the permission. */
export function NodeActions({ node, pool, runCount, onRemoved }: NodeActionsProps) {
  if (!useMay()('NODE_WRITE')) return null
  const runs =
    runCount === null
      ? 'Its running jobs continue.'
      : `${plural(runCount, 'running job')} ${runCount === 1 ? 'continues' : 'continue'}.`
  const open = (verb: 'Cordon' | 'Drain') =>
    openLayer({
      kind: 'FORM',
      title: `${verb} ${node.name}?`,
      content: (close) => <CloseNodeForm node={node} pool={pool} verb={verb} runs={runs} onClose={close} />,
    })
  return (
    <Buttons>
      {node.state !== 'CORDONED' && <Button onClick={() => open('Cordon')}>Cordon…</Button>}
      {node.state !== 'DRAINING' && <Button onClick={() => open('Drain')}>Drain…</Button>}
      {node.state !== 'READY' && node.state !== 'LOST' && (
        <Button onClick={() => void uncordon(node)}>{node.state === 'DRAINING' ? 'Stop draining' : 'Uncordon'}</Button>
      )}
      <Button onClick={() => confirmRemove({ node, pool, runCount, onRemoved })}>Remove…</Button>
    </Buttons>
  )
}

async function changeNode(node: MapNode, state: PoolNodeState, reason?: string): Promise<Refusal | null> {
  const input = { nodeId: node.id, state, expectedVersion: node.version, ...(reason && { reason }) }
  const { updateNode } = await client.request(ChangeNodeDocument, { input }, { attempts: 4 })
  return isRefused(updateNode) ? toRefusal(updateNode) : null
}

async function uncordon(node: MapNode) {
  const refused = await changeNode(node, 'READY').catch(refusalOf)
  if (refused) showToast(refused.message, { isTrouble: true })
}

interface CloseNodeFormProps {
  node: MapNode
  pool: string
  verb: 'Cordon' | 'Drain'
  runs: string
  onClose: () => void
}

function CloseNodeForm({ node, pool, verb, runs, onClose }: CloseNodeFormProps) {
  const [reason, setReason] = useState('')
  const submit = async () => {
    const refused = await changeNode(node, verb === 'Cordon' ? 'CORDONED' : 'DRAINING', reason.trim())
    if (!refused) onClose()
    return refused
  }
  return (
    <Form submitText={`${verb} the node`} onCancel={onClose} onSubmit={submit}>
      <p>
        No new run starts on {node.name}
        {verb === 'Drain' && ', which is to be removed'}. {runs}
      </p>
      <TextField label="Reason (others see it)" path="reason" value={reason} maxLength={500} onChange={setReason} />
      <code>
        berth node {verb.toLowerCase()} --pool {pool} {node.name}
      </code>
    </Form>
  )
}

const confirmRemove = ({ node, pool, runCount, onRemoved }: NodeActionsProps) =>
  confirmChange({
    title: `Remove ${node.name}?`,
    effect: `The pool loses ${plural(node.gpus.length, 'GPU')} and ${node.capacity.cpu} cores. ${
      runCount ? `In use by ${plural(runCount, 'run')}: drain it first.` : 'No run uses it.'
    } A node of berth.yaml comes back at the next start.`,
    command: `berth node rm --pool ${pool} ${node.name}`,
    confirmText: 'Remove the node',
    keepText: 'Keep it',
    change: async () => {
      const input = { nodeId: node.id, expectedVersion: node.version }
      return (await client.request(RemoveNodeDocument, { input }, { attempts: 4 })).deleteNode
    },
    toast: `Removed ${node.name}`,
    onDone: onRemoved,
  })
