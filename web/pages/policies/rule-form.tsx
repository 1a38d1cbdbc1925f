import {
  type ConditionDraft,
  describeCondition,
  toCondition,
  toConditionDraft,
} from '../../features/policies/conditions.ts'
import {
  ChangeRuleDocument,
  MakeRuleDocument,
  OneRuleDocument,
  type RuleItemFragment,
  type UserLevel,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { createNodeReader } from '../../ground/node-reader.ts'
import { levels } from '../../ground/permissions.ts'
import { isSame, type Values } from '../../parts/changed-values.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { useObjectDraft } from '../../parts/draft.ts'
import { CheckField, Form, Pair, type Refusal, refusal, SelectField, TextField } from '../../parts/form.tsx'
import type { FormCallbacks } from '../../parts/object-panel.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { ConditionFields } from './condition-fields.tsx'
import { RulePreview } from './rule-preview.tsx'

export const readRule = createNodeReader(OneRuleDocument, 'ApprovalRule')

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

/** Converts the draft to the input of the API; null: the value of the condition is missing. */
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

/** Returns only the changed fields, so that a save keeps changes of other users to the other fields. */
function toChange(draft: Draft, before: Draft) {
  const [next, old] = [toInput(draft), toInput(before)]
  const isChanged = ([key, value]: [string, unknown]) => !isSame(value, old?.[key as keyof typeof old])
  return next && (Object.fromEntries(Object.entries(next).filter(isChanged)) as Partial<typeof next>)
}

const toValues = (rule: RuleItemFragment): Values => ({
  name: rule.name,
  condition: describeCondition(rule.condition, null),
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

interface RuleFormProps extends FormCallbacks {
  /** The rule to change; null: creates a rule. */
  rule?: RuleItemFragment | null
}

export function RuleForm({ rule = null, onCancel, onDone }: RuleFormProps) {
  const { base, draft, set, merge } = useObjectDraft({ stored: rule, toDraft })
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
      return now ? merge(before.id, now, toValues) : toRefusal(updateApprovalRule)
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
      <TextField label="Name" path="name" value={draft.name} required onChange={(name) => set({ name })} />
      <ConditionFields draft={draft.condition} onChange={(next) => set({ condition: next })} />
      <CheckList
        label="Does not apply to these levels"
        path="exemptLevels"
        options={levels.map((value) => ({ value, text: value.toLowerCase() }))}
        chosen={draft.exemptLevels}
        onChange={(exemptLevels) => set({ exemptLevels })}
      />
      {condition && <RulePreview condition={condition} exemptLevels={draft.exemptLevels} />}
      <DecisionFields draft={draft} set={set} />
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
}

const DecisionFields = ({ draft, set }: FieldsProps) => (
  <>
    <Pair>
      <SelectField
        label="Lowest level that decides"
        path="requiredLevel"
        value={draft.requiredLevel}
        options={levels.map((level) => [level, level.toLowerCase()])}
        onChange={(requiredLevel) => set({ requiredLevel })}
      />
      <TextField
        label="Hours until a request expires"
        help="The job then fails."
        path="expiresAfterSeconds"
        type="number"
        min={0}
        step="any"
        required
        value={draft.expiresHours}
        onChange={(expiresHours) => set({ expiresHours })}
      />
    </Pair>
    <TextField
      label="Priority"
      help="Rules with a higher one are tried first."
      path="priority"
      type="number"
      required
      value={draft.priority}
      onChange={(priority) => set({ priority })}
    />
    <CheckField text="The rule applies" isChecked={draft.enabled} onChange={(enabled) => set({ enabled })} />
  </>
)
