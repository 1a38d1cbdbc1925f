import { MakeReservationDocument, NodesOfPoolsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useQuery } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { useObjectDraft } from '../../parts/draft.ts'
import { CheckField, Form, Pair, type Refusal, SelectField, TextField } from '../../parts/form.tsx'
import type { FormCallbacks } from '../../parts/object-panel.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { describeHeld, formatLocalDateTime } from './reserved-nodes.ts'

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

/** The initial draft: from the next full hour, for eight hours. */
function startDraft(): Draft {
  const nextMs = Math.ceil(serverNowMs() / hourMs) * hourMs
  const times = { from: formatLocalDateTime(nextMs), until: formatLocalDateTime(nextMs + 8 * hourMs) }
  return { name: '', project: '', pool: '', nodeIds: [], hard: false, nativeId: '', ...times }
}

const toTime = (text: string) => new Date(text).toISOString()

export function ReservationForm({ onCancel, onDone }: FormCallbacks) {
  const { draft, set } = useObjectDraft({ stored: null, toDraft: startDraft })
  const { value } = useQuery(NodesOfPoolsDocument, {})
  const pools = value?.pools.nodes ?? []
  const pool = pools.find(({ name }) => name === draft.pool) ?? pools[0]
  const nodes = pool?.nodes.nodes ?? []
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
      <Pair>
        <TextField label="Name" path="name" value={draft.name} required onChange={(name) => set({ name })} />
        <TextField
          label="Project"
          path="project"
          value={draft.project}
          required
          onChange={(project) => set({ project })}
        />
      </Pair>
      <WindowFields draft={draft} set={set} />
      {pools.length > 1 && (
        <SelectField
          label="Pool"
          path="pool"
          value={pool?.name ?? ''}
          options={pools.map(({ name }) => [name, name])}
          onChange={(name) => set({ pool: name, nodeIds: [] })}
        />
      )}
      <CheckList
        label="Nodes"
        help={
          draft.nodeIds.length > 0 &&
          `Holds ${describeHeld(nodes.filter(({ id }) => draft.nodeIds.includes(id)))}. Other jobs do not start there in the window.`
        }
        path="nodeIds"
        options={nodes.map(({ id, name, state }) => ({
          value: id,
          text: state === 'READY' ? name : `${name} (${state.toLowerCase()})`,
        }))}
        chosen={draft.nodeIds}
        onChange={(nodeIds) => set({ nodeIds })}
      />
      <TextField
        label="Name at the backend"
        help="If the backend has a reservation of its own."
        path="nativeId"
        value={draft.nativeId}
        onChange={(nativeId) => set({ nativeId })}
      />
    </Form>
  )
}

interface WindowFieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
}

const WindowFields = ({ draft, set }: WindowFieldsProps) => (
  <>
    <TextField
      label="From"
      path="startsAt"
      type="datetime-local"
      required
      value={draft.from}
      onChange={(from) => set({ from })}
    />
    <TextField
      label="Until"
      path="endsAt"
      type="datetime-local"
      required
      value={draft.until}
      onChange={(until) => set({ until })}
    />
    <CheckField text="End running jobs at its end" isChecked={draft.hard} onChange={(hard) => set({ hard })} />
  </>
)
