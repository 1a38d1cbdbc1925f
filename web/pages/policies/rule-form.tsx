import { useState } from 'react'
import {
  type ConditionDraft,
  describeCondition,
  toCondition,
  toConditionDraft,
} from '../../features/policies/conditions.ts'
import { ChangeRuleDocument, MakeRuleDocument, type RuleItemFragment, type UserLevel } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { levels } from '../../ground/permissions.ts'
import { isSame, mergeDraft, type Values } from '../../parts/changed-values.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { describeConflict } from '../../parts/conflict.ts'
import { Field, Form, type Refusal, refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { ConditionFields } from './condition-fields.tsx'
import styles from './policies.module.css'
import { readRule } from './read-policies.ts'
import { RulePreview } from './rule-preview.tsx'

interface Draft {
  name: string
  priority: string
  enabled: boolean
  requiredLevel: UserLevel
  exemptLevels: readonly UserLevel[]
  expiresHours: string
  condition: ConditionDraft
}

const secondsOfHour = 3_600
const hoursByDefault = 24

const toDraft = (rule: RuleItemFragment | null): Draft => ({
  name: rule?.name ?? '',
  priority: String(rule?.priority ?? 0),
  enabled: rule?.enabled ?? true,
  requiredLevel: rule?.requiredLevel ?? 'LEAD',
  exemptLevels: rule?.exemptLevels ?? [],
  expiresHours: String(rule ? rule.expiresAfterSeconds / secondsOfHour : hoursByDefault),
  condition: toConditionDraft(rule?.condition),
})

/** null: the condition lacks its value. */
function toInput(draft: Draft) {
  const condition = toCondition(draft.condition)
  return (
    condition && {
      name: draft.name.trim(),
      priority: Number(draft.priority),
      enabled: draft.enabled,
      requiredLevel: draft.requiredLevel,
      exemptLevels: [...draft.exemptLevels],
      expiresAfterSeconds: Math.round(Number(draft.expiresHours) * secondsOfHour),
      condition,
    }
  )
}

/** Only the fields that differ, so that a save leaves the changes of others as they are. */
function toChange(draft: Draft, before: Draft) {
  const [next, old] = [toInput(draft), toInput(before)]
  const isChanged = ([key, value]: [string, unknown]) => !isSame(value, old?.[key as keyof typeof old])
  return next && (Object.fromEntries(Object.entries(next).filter(isChanged)) as Partial<typeof next>)
}

const toValues = (rule: RuleItemFragment): Values => ({
  name: rule.name,
  condition: describeCondition(rule.condition),
  priority: String(rule.priority),
  state: rule.enabled ? 'on' : 'off',
  'level required to approve': rule.requiredLevel.toLowerCase(),
  'exempt levels': rule.exemptLevels.join(', ').toLowerCase(),
  'seconds until expiry': String(rule.expiresAfterSeconds),
})

const incomplete: Refusal = {
  ...refusal('The condition needs a value.'),
  violations: [{ path: 'condition', message: 'Fill in a value.' }],
}

interface RuleFormProps {
  /** null: a new one. */
  rule?: RuleItemFragment | null
  onCancel: () => void
  onDone: (id: string) => void
}

export function RuleForm({ rule = null, onCancel, onDone }: RuleFormProps) {
  const [base, setBase] = useState(rule)
  const [draft, setDraft] = useState(() => toDraft(rule))
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const create = async (): Promise<Refusal | null> => {
    const input = toInput(draft)
    if (!input) return incomplete
    const { createApprovalRule } = await client.request(MakeRuleDocument, { input })
    if (isRefused(createApprovalRule)) return toRefusal(createApprovalRule)
    showToast(`Created ${input.name}`)
    onDone(createApprovalRule.rule.id)
    return null
  }
  const change = async (before: RuleItemFragment): Promise<Refusal | null> => {
    const changed = toChange(draft, toDraft(before))
    if (!changed) return incomplete
    const input = { ...changed, approvalRuleId: before.id, expectedVersion: before.version }
    const { updateApprovalRule } = await client.request(ChangeRuleDocument, { input }, { attempts: 4 })
    if (updateApprovalRule.__typename === 'VersionConflictProblem') {
      const now = await readRule(before.id)
      if (!now) return toRefusal(updateApprovalRule)
      setBase(now)
      setDraft(mergeDraft(draft, toDraft(before), toDraft(now)))
      return describeConflict({ objectId: now.id, before: toValues(before), now: toValues(now) })
    }
    if (isRefused(updateApprovalRule)) return toRefusal(updateApprovalRule)
    showToast(`Saved ${draft.name}`)
    onDone(before.id)
    return null
  }
  const condition = toCondition(draft.condition)
  return (
    <Form
      takesFocus
      submitText={base ? 'Save' : 'Create rule'}
      onCancel={onCancel}
      onSubmit={() => (base ? change(base) : create())}
    >
      {(found) => (
        <>
          <Field label="Name" path="name" refusal={found}>
            <input value={draft.name} required onChange={({ target }) => set({ name: target.value })} />
          </Field>
          <ConditionFields draft={draft.condition} refusal={found} onChange={(next) => set({ condition: next })} />
          <CheckList
            label="Does not apply to these levels"
            path="exemptLevels"
            refusal={found}
            options={levels.map((value) => ({ value, text: value.toLowerCase() }))}
            chosen={draft.exemptLevels}
            onChange={(exemptLevels) => set({ exemptLevels })}
          />
          {condition && <RulePreview condition={condition} exemptLevels={draft.exemptLevels} />}
          <DecisionFields draft={draft} refusal={found} set={set} />
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

const DecisionFields = ({ draft, refusal: found, set }: FieldsProps) => (
  <>
    <div className={styles.pair}>
      <Field label="Lowest level that decides" path="requiredLevel" refusal={found}>
        <select
          value={draft.requiredLevel}
          onChange={({ target }) => set({ requiredLevel: target.value as UserLevel })}
        >
          {levels.map((level) => (
            <option key={level} value={level}>
              {level.toLowerCase()}
            </option>
          ))}
        </select>
      </Field>
      <Field
        label="Hours until a request expires"
        help="The job then fails."
        path="expiresAfterSeconds"
        refusal={found}
      >
        <input
          type="number"
          min={0}
          step="any"
          required
          value={draft.expiresHours}
          onChange={({ target }) => set({ expiresHours: target.value })}
        />
      </Field>
    </div>
    <Field label="Priority" help="Rules with a higher one are tried first." path="priority" refusal={found}>
      <input type="number" required value={draft.priority} onChange={({ target }) => set({ priority: target.value })} />
    </Field>
    <label className={styles.check}>
      <input type="checkbox" checked={draft.enabled} onChange={({ target }) => set({ enabled: target.checked })} />
      The rule applies
    </label>
  </>
)
