import { toScopeInput } from '@berth-jobs/berth/client'
import {
  describeQuotaEffect,
  describeScope,
  formatAmount,
  isCost,
  type QuotaScope,
  quotaActions,
  quotaScopes,
  quotaTypes,
} from '../../features/policies/quota-texts.ts'
import { useCurrency } from '../../features/policies/use-currency.ts'
import {
  ChangeQuotaDocument,
  MakeQuotaDocument,
  OneQuotaDocument,
  type QuotaAction,
  type QuotaItemFragment,
  type QuotaType,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { createNodeReader } from '../../ground/node-reader.ts'
import { levels } from '../../ground/permissions.ts'
import { useResource } from '../../ground/resource.ts'
import { useObjectDraft } from '../../parts/draft.ts'
import { Form, type Refusal, SelectField, TextField } from '../../parts/form.tsx'
import type { FormCallbacks } from '../../parts/object-panel.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { readQuotaUse } from './quota-use.ts'

export const readQuota = createNodeReader(OneQuotaDocument, 'Quota')

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

const toValues = ({ type, limit, action }: QuotaItemFragment) => ({
  limit: formatAmount(type, limit, null),
  effect: quotaActions[action],
})

interface QuotaFormProps extends FormCallbacks {
  /** The quota to change; null: creates a quota. */
  quota?: QuotaItemFragment | null
}

export function QuotaForm({ quota = null, onCancel, onDone }: QuotaFormProps) {
  const { base, draft, set, merge } = useObjectDraft({ stored: quota, toDraft })
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
      return now ? merge(before.id, now, toValues) : toRefusal(updateQuota)
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
      {!base && <TargetFields draft={draft} set={set} />}
      <LimitFields draft={draft} set={set} />
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
}

const toOptions = <Value extends string>(texts: Readonly<Record<Value, string>>) =>
  Object.entries(texts) as [Value, string][]

/** Fields that cannot be changed later: what the quota counts, and for whom. */
const TargetFields = ({ draft, set }: FieldsProps) => (
  <>
    <SelectField
      label="Counts"
      path="type"
      value={draft.type}
      options={toOptions(quotaTypes)}
      onChange={(type) => set({ type })}
    />
    <SelectField
      label="Of"
      help="A quota of a user replaces that of the level, and that of each user. Those of teams and accounts apply as well."
      path="scope"
      value={draft.scope}
      options={toOptions(quotaScopes)}
      onChange={(scope) => set({ scope, key: scope === 'LEVEL' ? 'RESEARCHER' : '' })}
    />
    {draft.scope === 'LEVEL' && (
      <SelectField
        label="Level"
        path="scope"
        value={draft.key}
        options={levels.map((level) => [level, level.toLowerCase()])}
        onChange={(key) => set({ key })}
      />
    )}
    {draft.scope !== 'LEVEL' && draft.scope !== 'GLOBAL' && (
      <TextField
        label={`Name of the ${draft.scope.toLowerCase()}`}
        path="scope"
        value={draft.key}
        required
        spellCheck={false}
        onChange={(key) => set({ key })}
      />
    )}
  </>
)

/** Fields for the limit and the action, with the effect on current jobs. */
function LimitFields({ draft, set }: FieldsProps) {
  const name = draft.scope === 'GLOBAL' ? null : draft.key.trim()
  const scope = { kind: draft.scope, name }
  const { value: use } = useResource(
    `use by ${draft.type} ${draft.scope} ${name}`,
    (signal) => readQuotaUse({ type: draft.type, scope }, signal),
    { isOff: name === '' },
  )
  const limit = Number(draft.limit)
  const currency = useCurrency()
  const effect =
    use && draft.limit !== '' && Number.isFinite(limit) ? describeQuotaEffect(draft.action, limit, use) : null
  return (
    <>
      <TextField
        label="At most"
        help={effect ?? (isCost(draft.type) && currency && `In ${currency}.`)}
        path="limit"
        type="number"
        min={0}
        step="any"
        required
        value={draft.limit}
        onChange={(text) => set({ limit: text })}
      />
      <SelectField
        label={`A submission of ${describeScope(scope)} beyond it`}
        path="action"
        value={draft.action}
        options={toOptions(quotaActions)}
        onChange={(action) => set({ action })}
      />
    </>
  )
}
