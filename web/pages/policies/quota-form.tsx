import { toScopeInput } from '@berth-jobs/berth/client'
import { useState } from 'react'
import {
  ChangeQuotaDocument,
  MakeQuotaDocument,
  type QuotaAction,
  type QuotaItemFragment,
  type QuotaType,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { levels } from '../../ground/permissions.ts'
import { useResource } from '../../ground/resource.ts'
import { mergeDraft } from '../../parts/changed-values.ts'
import { describeConflict } from '../../parts/conflict.ts'
import { Field, Form, type Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import {
  describeQuotaEffect,
  describeScope,
  formatAmount,
  type QuotaScope,
  quotaActions,
  quotaScopes,
  quotaTypes,
} from './quota-texts.ts'
import { readQuotaUse } from './quota-use.ts'
import { readQuota } from './read-policies.ts'

interface Draft {
  type: QuotaType
  scope: QuotaScope
  key: string
  action: QuotaAction
  limit: string
}

const toDraft = (quota: QuotaItemFragment | null): Draft => ({
  type: quota?.type ?? 'CONCURRENT_JOBS',
  scope: (quota?.scope.kind ?? 'GLOBAL') as QuotaScope,
  key: quota?.scope.name ?? '',
  action: quota?.action ?? 'BLOCK',
  limit: quota ? String(quota.limit) : '',
})

const toValues = ({ limit, action }: Pick<QuotaItemFragment, 'limit' | 'action'>) => ({
  limit: formatAmount(limit),
  effect: quotaActions[action],
})

interface QuotaFormProps {
  /** null: a new one. */
  quota?: QuotaItemFragment | null
  onCancel: () => void
  onDone: (id: string) => void
}

export function QuotaForm({ quota = null, onCancel, onDone }: QuotaFormProps) {
  const [base, setBase] = useState(quota)
  const [draft, setDraft] = useState(() => toDraft(quota))
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const create = async (): Promise<Refusal | null> => {
    const { type, scope, key, action, limit } = draft
    const input = {
      type,
      action,
      limit: Number(limit),
      ...(scope !== 'GLOBAL' && { scope: toScopeInput(scope, key.trim()) }),
    }
    const { createQuota } = await client.request(MakeQuotaDocument, { input })
    if (isRefused(createQuota)) return toRefusal(createQuota)
    showToast('Created the quota')
    onDone(createQuota.quota.id)
    return null
  }
  const change = async (before: QuotaItemFragment): Promise<Refusal | null> => {
    const input = {
      quotaId: before.id,
      expectedVersion: before.version,
      ...(draft.action !== before.action && { action: draft.action }),
      ...(Number(draft.limit) !== before.limit && { limit: Number(draft.limit) }),
    }
    const { updateQuota } = await client.request(ChangeQuotaDocument, { input }, { attempts: 4 })
    if (updateQuota.__typename === 'VersionConflictProblem') {
      const now = await readQuota(before.id)
      if (!now) return toRefusal(updateQuota)
      setBase(now)
      setDraft(mergeDraft(draft, toDraft(before), toDraft(now)))
      return describeConflict({ objectId: now.id, before: toValues(before), now: toValues(now) })
    }
    if (isRefused(updateQuota)) return toRefusal(updateQuota)
    showToast('Saved the quota')
    onDone(before.id)
    return null
  }
  return (
    <Form
      takesFocus
      submitText={base ? 'Save' : 'Create quota'}
      onCancel={onCancel}
      onSubmit={() => (base ? change(base) : create())}
    >
      {(refusal) => (
        <>
          {!base && <TargetFields draft={draft} refusal={refusal} set={set} />}
          <LimitFields draft={draft} refusal={refusal} set={set} />
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

const toOptions = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))

/** Cannot be changed later. */
const TargetFields = ({ draft, refusal, set }: FieldsProps) => (
  <>
    <Field label="Counts" path="type" refusal={refusal}>
      <select value={draft.type} onChange={({ target }) => set({ type: target.value as QuotaType })}>
        {toOptions(quotaTypes)}
      </select>
    </Field>
    <Field
      label="Of"
      help="A quota of a user replaces that of the level, and that of each user. Those of teams and accounts apply as well."
      path="scope"
      refusal={refusal}
    >
      <select
        value={draft.scope}
        onChange={({ target }) =>
          set({ scope: target.value as QuotaScope, key: target.value === 'LEVEL' ? 'RESEARCHER' : '' })
        }
      >
        {toOptions(quotaScopes)}
      </select>
    </Field>
    {draft.scope === 'LEVEL' && (
      <Field label="Level" path="scope" refusal={refusal}>
        <select value={draft.key} onChange={({ target }) => set({ key: target.value })}>
          {levels.map((level) => (
            <option key={level} value={level}>
              {level.toLowerCase()}
            </option>
          ))}
        </select>
      </Field>
    )}
    {draft.scope !== 'LEVEL' && draft.scope !== 'GLOBAL' && (
      <Field label={`Name of the ${draft.scope.toLowerCase()}`} path="scope" refusal={refusal}>
        <input value={draft.key} required spellCheck={false} onChange={({ target }) => set({ key: target.value })} />
      </Field>
    )}
  </>
)

/** With the effect on the jobs of now. */
function LimitFields({ draft, refusal, set }: FieldsProps) {
  const name = draft.scope === 'GLOBAL' ? null : draft.key.trim()
  const scope = { kind: draft.scope, name }
  const { value: use } = useResource(
    `use by ${draft.type} ${draft.scope} ${name}`,
    (signal) => readQuotaUse({ type: draft.type, scope }, signal),
    { isOff: name === '' },
  )
  const limit = Number(draft.limit)
  const effect =
    use && draft.limit !== '' && Number.isFinite(limit) ? describeQuotaEffect(draft.action, limit, use) : null
  return (
    <>
      <Field label="At most" help={effect} path="limit" refusal={refusal}>
        <input
          type="number"
          min={0}
          step="any"
          required
          value={draft.limit}
          onChange={({ target }) => set({ limit: target.value })}
        />
      </Field>
      <Field label={`A submission of ${describeScope(scope)} beyond it`} path="action" refusal={refusal}>
        <select value={draft.action} onChange={({ target }) => set({ action: target.value as QuotaAction })}>
          {toOptions(quotaActions)}
        </select>
      </Field>
    </>
  )
}
