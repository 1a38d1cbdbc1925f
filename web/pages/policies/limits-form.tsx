import {
  describeLimitEffect,
  type LimitName,
  type LimitUse,
  limitNames,
  limitTexts,
} from '../../features/policies/limit-effects.ts'
import { ChangeLimitsDocument, type PoolLimitsFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { Values } from '../../parts/changed-values.ts'
import { useObjectDraft } from '../../parts/draft.ts'
import { CheckField, Form, type Refusal, TextField } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { type PoolLimitsNow, readLimits } from './use-limits.ts'

/** The limits as typed texts; empty: unlimited. */
interface Draft extends Readonly<Record<LimitName, string>> {
  enableFairShare: boolean
  starvationThresholdSeconds: string
}

const toText = (limit: number | null) => (limit === null ? '' : String(limit))
const toNumber = (text: string) => (text.trim() === '' ? null : Number(text))

const toDraft = (limits: PoolLimitsFragment): Draft => ({
  ...(Object.fromEntries(limitNames.map((name) => [name, toText(limits[name])])) as Record<LimitName, string>),
  enableFairShare: limits.enableFairShare,
  starvationThresholdSeconds: toText(limits.starvationThresholdSeconds),
})

const toValues = (limits: PoolLimitsFragment): Values => ({
  ...Object.fromEntries(limitNames.map((name) => [limitTexts[name].title, toText(limits[name]) || 'unlimited'])),
  'limit of teams': limits.enableFairShare ? 'on' : 'off',
  'priority step': toText(limits.starvationThresholdSeconds) || 'never',
})

/** Returns only the changed limits, so that a save keeps changes of other users to the other limits. */
const toInput = (draft: Draft, before: Draft) =>
  Object.fromEntries(
    Object.entries(draft)
      .filter(([name, value]) => value !== before[name as keyof Draft])
      .map(([name, value]) => [name, typeof value === 'string' ? toNumber(value) : value]),
  )

interface LimitsFormProps {
  limits: PoolLimitsNow
  use: LimitUse
  onCancel: () => void
  onDone: () => void
}

export function LimitsForm({ limits, use, onCancel, onDone }: LimitsFormProps) {
  const pool = limits.pool.name
  const { base, draft, before, set, merge } = useObjectDraft({ stored: limits, toDraft })
  const save = async (): Promise<Refusal | null> => {
    const input = { ...toInput(draft, before), pool, expectedVersion: base.version }
    const { updateLimits } = await client.request(ChangeLimitsDocument, { input }, { attempts: 4 })
    if (updateLimits.__typename === 'VersionConflictProblem') {
      const now = await readLimits(pool)
      return now ? merge(limits.pool.id, now, toValues) : toRefusal(updateLimits)
    }
    if (isRefused(updateLimits)) return toRefusal(updateLimits)
    showToast(`Saved the limits of ${pool}`)
    onDone()
    return null
  }
  return (
    <Form takesFocus submitText="Save" onCancel={onCancel} onSubmit={save}>
      {limitNames.map((name) => (
        <TextField
          key={name}
          label={limitTexts[name].title}
          path={name}
          help={draft[name] === before[name] ? null : describeLimitEffect(name, toNumber(draft[name]), use)}
          type="number"
          min={0}
          placeholder="unlimited"
          value={draft[name]}
          onChange={(text) => set({ [name]: text })}
        />
      ))}
      <CheckField
        text="The limit of teams applies"
        isChecked={draft.enableFairShare}
        onChange={(enableFairShare) => set({ enableFairShare })}
      />
      {limits.pool.policy === 'PRIORITY' && (
        <TextField
          label="Seconds of waiting that raise a priority by 10"
          help="At most by 30. Empty: never."
          path="starvationThresholdSeconds"
          type="number"
          min={1}
          value={draft.starvationThresholdSeconds}
          onChange={(starvationThresholdSeconds) => set({ starvationThresholdSeconds })}
        />
      )}
    </Form>
  )
}
