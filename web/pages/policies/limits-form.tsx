import { useState } from 'react'
import {
  describeLimitEffect,
  type LimitName,
  type LimitUse,
  limitNames,
  limitTexts,
} from '../../features/policies/limit-effects.ts'
import { ChangeLimitsDocument, type PoolLimitsFragment, type PoolPolicy } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { mergeDraft, type Values } from '../../parts/changed-values.ts'
import { describeConflict } from '../../parts/conflict.ts'
import { Field, Form, type Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './policies.module.css'
import { type PoolLimitsNow, readLimits } from './use-limits.ts'

interface Draft {
  /** As typed; empty: unlimited. */
  limits: Readonly<Record<LimitName, string>>
  enableFairShare: boolean
  starvationSeconds: string
}

const toText = (limit: number | null) => (limit === null ? '' : String(limit))
const toNumber = (text: string) => (text.trim() === '' ? null : Number(text))

const toDraft = (limits: PoolLimitsFragment): Draft => ({
  limits: Object.fromEntries(limitNames.map((name) => [name, toText(limits[name])])) as Draft['limits'],
  enableFairShare: limits.enableFairShare,
  starvationSeconds: toText(limits.starvationThresholdSeconds),
})

const toValues = ({ limits, enableFairShare, starvationSeconds }: Draft): Values => ({
  ...Object.fromEntries(limitNames.map((name) => [limitTexts[name].title, limits[name] || 'unlimited'])),
  'limit of teams': enableFairShare ? 'on' : 'off',
  'priority step': starvationSeconds || 'never',
})

/** Only the limits that differ, so that a save leaves the changes of others as they are. */
function toInput(draft: Draft, before: Draft) {
  const changed = limitNames.filter((name) => draft.limits[name] !== before.limits[name])
  return {
    ...Object.fromEntries(changed.map((name) => [name, toNumber(draft.limits[name])])),
    ...(draft.enableFairShare !== before.enableFairShare && { enableFairShare: draft.enableFairShare }),
    ...(draft.starvationSeconds !== before.starvationSeconds && {
      starvationThresholdSeconds: toNumber(draft.starvationSeconds),
    }),
  }
}

interface LimitsFormProps {
  limits: PoolLimitsNow
  use: LimitUse
  onCancel: () => void
  onDone: () => void
}

export function LimitsForm({ limits, use, onCancel, onDone }: LimitsFormProps) {
  const pool = limits.pool.name
  const [base, setBase] = useState({ version: limits.version, draft: toDraft(limits) })
  const [draft, setDraft] = useState(base.draft)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const save = async (): Promise<Refusal | null> => {
    const input = { ...toInput(draft, base.draft), pool, expectedVersion: base.version }
    const { updateLimits } = await client.request(ChangeLimitsDocument, { input }, { attempts: 4 })
    if (updateLimits.__typename === 'VersionConflictProblem') {
      const now = await readLimits(pool)
      if (!now) return toRefusal(updateLimits)
      const next = toDraft(now)
      setBase({ version: now.version, draft: next })
      const limitsNow = mergeDraft(draft.limits, base.draft.limits, next.limits)
      setDraft({ ...mergeDraft(draft, base.draft, next), limits: limitsNow })
      return describeConflict({ objectId: limits.pool.id, before: toValues(base.draft), now: toValues(next) })
    }
    if (isRefused(updateLimits)) return toRefusal(updateLimits)
    showToast(`Saved the limits of ${pool}`)
    onDone()
    return null
  }
  return (
    <Form takesFocus submitText="Save" onCancel={onCancel} onSubmit={save}>
      {(refusal) => (
        <>
          {limitNames.map((name) => (
            <Field
              key={name}
              label={limitTexts[name].title}
              path={name}
              refusal={refusal}
              help={
                draft.limits[name] === base.draft.limits[name]
                  ? null
                  : describeLimitEffect(name, toNumber(draft.limits[name]), use)
              }
            >
              <input
                type="number"
                min={0}
                placeholder="unlimited"
                value={draft.limits[name]}
                onChange={({ target }) => set({ limits: { ...draft.limits, [name]: target.value } })}
              />
            </Field>
          ))}
          <OrderFields draft={draft} policy={limits.pool.policy} refusal={refusal} set={set} />
        </>
      )}
    </Form>
  )
}

interface OrderFieldsProps {
  draft: Draft
  policy: PoolPolicy
  refusal: Refusal | null
  set: (change: Partial<Draft>) => void
}

const OrderFields = ({ draft, policy, refusal, set }: OrderFieldsProps) => (
  <>
    <label className={styles.check}>
      <input
        type="checkbox"
        checked={draft.enableFairShare}
        onChange={({ target }) => set({ enableFairShare: target.checked })}
      />
      The limit of teams applies
    </label>
    {policy === 'PRIORITY' && (
      <Field
        label="Seconds of waiting that raise a priority by 10"
        help="At most by 30. Empty: never."
        path="starvationThresholdSeconds"
        refusal={refusal}
      >
        <input
          type="number"
          min={1}
          value={draft.starvationSeconds}
          onChange={({ target }) => set({ starvationSeconds: target.value })}
        />
      </Field>
    )}
  </>
)
