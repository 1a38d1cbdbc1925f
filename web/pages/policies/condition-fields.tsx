import {
  type ConditionDraft,
  type ConditionKind,
  conditionKinds,
  conditionTexts,
} from '../../features/policies/conditions.ts'
import { levels } from '../../ground/permissions.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { Field, type Refusal } from '../../parts/form.tsx'

interface ConditionFieldsProps {
  draft: ConditionDraft
  refusal: Refusal | null
  onChange: (draft: ConditionDraft) => void
}

/** The kind of the condition, and its value. */
export function ConditionFields({ draft, refusal, onChange }: ConditionFieldsProps) {
  const { kind, text } = draft
  const { title, help, input } = conditionTexts[kind]
  const set = (value: string) => onChange({ ...draft, text: value })
  return (
    <>
      <Field label="A job needs an approval if" path={input === 'yes' ? 'condition' : 'kind'} refusal={refusal}>
        <select
          value={kind}
          onChange={({ target }) => onChange({ kind: target.value as ConditionKind, text: '', levels: [] })}
        >
          {conditionKinds.map((each) => (
            <option key={each} value={each}>
              {conditionTexts[each].title}
            </option>
          ))}
        </select>
      </Field>
      {input === 'levels' && (
        <CheckList
          label={title}
          path="condition"
          refusal={refusal}
          options={levels.map((value) => ({ value, text: value.toLowerCase() }))}
          chosen={draft.levels}
          onChange={(chosen) => onChange({ ...draft, levels: chosen })}
        />
      )}
      {input === 'yes' && (
        <Field label={title}>
          <select value={text === 'false' ? 'false' : 'true'} onChange={({ target }) => set(target.value)}>
            <option value="true">is matched</option>
            <option value="false">is not matched, all later ones are</option>
          </select>
        </Field>
      )}
      {(input === 'text' || input === 'number') && (
        <Field label={title} help={help} path="condition" refusal={refusal}>
          <input
            type={input}
            {...(input === 'number' && { min: 0, step: kind === 'costAbove' ? 'any' : 1 })}
            value={text}
            required
            spellCheck={false}
            onChange={({ target }) => set(target.value)}
          />
        </Field>
      )}
    </>
  )
}
