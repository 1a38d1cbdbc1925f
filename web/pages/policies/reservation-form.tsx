import { useState } from 'react'
import { MakeReservationDocument, NodesOfPoolsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useQuery } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { Field, Form, type Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './policies.module.css'
import { describeHeld, toLocalText } from './reserved-nodes.ts'

const hourMs = 3_600_000

interface Draft {
  name: string
  project: string
  pool: string
  nodeIds: readonly string[]
  from: string
  until: string
  hard: boolean
  nativeId: string
}

/** From the next whole hour on, for eight hours. */
function startDraft(): Draft {
  const nextMs = Math.ceil(serverNowMs() / hourMs) * hourMs
  const times = { from: toLocalText(nextMs), until: toLocalText(nextMs + 8 * hourMs) }
  return { name: '', project: '', pool: '', nodeIds: [], hard: false, nativeId: '', ...times }
}

const toTime = (text: string) => new Date(text).toISOString()

interface ReservationFormProps {
  onCancel: () => void
  onDone: (id: string) => void
}

export function ReservationForm({ onCancel, onDone }: ReservationFormProps) {
  const [draft, setDraft] = useState(startDraft)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const { value } = useQuery(NodesOfPoolsDocument, {})
  const pool = value?.pools.nodes.find(({ name }) => name === draft.pool) ?? value?.pools.nodes[0]
  const create = async (): Promise<Refusal | null> => {
    const { name, project, nodeIds, from, until, hard, nativeId } = draft
    const input = {
      ...{ name: name.trim(), project: project.trim(), pool: pool?.name ?? '', nodeIds: [...nodeIds], hard },
      ...{ startsAt: toTime(from), endsAt: toTime(until) },
      ...(nativeId.trim() && { nativeId: nativeId.trim() }),
    }
    const { createCapacityReservation } = await client.request(MakeReservationDocument, { input })
    if (isRefused(createCapacityReservation)) return toRefusal(createCapacityReservation)
    showToast(`Created ${input.name}`)
    onDone(createCapacityReservation.capacityReservation.id)
    return null
  }
  return (
    <Form takesFocus submitText="Create reservation" onCancel={onCancel} onSubmit={create}>
      {(refusal) => (
        <>
          <div className={styles.pair}>
            <Field label="Name" path="name" refusal={refusal}>
              <input value={draft.name} required onChange={({ target }) => set({ name: target.value })} />
            </Field>
            <Field label="Project" path="project" refusal={refusal}>
              <input value={draft.project} required onChange={({ target }) => set({ project: target.value })} />
            </Field>
          </div>
          <WindowFields draft={draft} refusal={refusal} set={set} />
          {value && value.pools.nodes.length > 1 && (
            <Field label="Pool" path="pool" refusal={refusal}>
              <select value={pool?.name} onChange={({ target }) => set({ pool: target.value, nodeIds: [] })}>
                {value.pools.nodes.map(({ id, name }) => (
                  <option key={id}>{name}</option>
                ))}
              </select>
            </Field>
          )}
          <NodeFields nodes={pool?.nodes.nodes ?? []} draft={draft} refusal={refusal} set={set} />
          <Field
            label="Name at the backend"
            help="If the backend has a reservation of its own."
            path="nativeId"
            refusal={refusal}
          >
            <input value={draft.nativeId} onChange={({ target }) => set({ nativeId: target.value })} />
          </Field>
        </>
      )}
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  refusal: Refusal | null
  set: (change: Partial<Draft>) => void
}

const WindowFields = ({ draft, refusal, set }: FieldsProps) => (
  <>
    <Field label="From" path="startsAt" refusal={refusal}>
      <input type="datetime-local" required value={draft.from} onChange={({ target }) => set({ from: target.value })} />
    </Field>
    <Field label="Until" path="endsAt" refusal={refusal}>
      <input
        type="datetime-local"
        required
        value={draft.until}
        onChange={({ target }) => set({ until: target.value })}
      />
    </Field>
    <label className={styles.check}>
      <input type="checkbox" checked={draft.hard} onChange={({ target }) => set({ hard: target.checked })} />
      End running jobs at its end
    </label>
  </>
)

interface NodeFieldsProps extends FieldsProps {
  nodes: readonly {
    id: string
    name: string
    state: string
    capacity: { cpu: number; gpu: number; memoryBytes: number }
  }[]
}

const NodeFields = ({ nodes, draft, refusal, set }: NodeFieldsProps) => (
  <CheckList
    label="Nodes"
    help={
      draft.nodeIds.length > 0 &&
      `Holds ${describeHeld(nodes.filter(({ id }) => draft.nodeIds.includes(id)))}. Other jobs do not start there in the window.`
    }
    path="nodeIds"
    refusal={refusal}
    options={nodes.map(({ id, name, state }) => ({
      value: id,
      text: state === 'READY' ? name : `${name} (${state.toLowerCase()})`,
    }))}
    chosen={draft.nodeIds}
    onChange={(chosen) => set({ nodeIds: chosen })}
  />
)
