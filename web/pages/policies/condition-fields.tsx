import { type ConditionDraft, conditionKinds, conditionTexts } from '../../features/policies/conditions.ts'
import { useCurrency } from '../../features/policies/use-currency.ts'
import { levels } from '../../ground/permissions.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { SelectField, TextField } from '../../parts/form.tsx'

interface ConditionFieldsProps {
  draft: ConditionDraft
  onChange: (draft: ConditionDraft) => void
}

export function ConditionFields({ draft, onChange }: ConditionFieldsProps) {
  const { kind, text } = draft
  const { title, help, input } = conditionTexts[kind]
  const currency = useCurrency()
  const set = (value: string) => onChange({ ...draft, text: value })
  return (
    <>
      <SelectField
        label="A job needs an approval if"
        path={input === 'yes' ? 'condition' : 'kind'}
        value={kind}
        options={conditionKinds.map((each) => [each, conditionTexts[each].title])}
        onChange={(next) => onChange({ kind: next, text: '', levels: [] })}
      />
      {input === 'levels' && (
        <CheckList
          label={title}
          path="condition"
          options={levels.map((value) => ({ value, text: value.toLowerCase() }))}
          chosen={draft.levels}
          onChange={(chosen) => onChange({ ...draft, levels: chosen })}
        />
      )}
      {input === 'yes' && (
        <SelectField
          label={title}
          value={text === 'false' ? 'false' : 'true'}
          options={[
            ['true', 'is matched'],
            ['false', 'is not matched, all later ones are'],
          ]}
          onChange={set}
        />
      )}
      {(input === 'text' || input === 'number') && (
        <TextField
          label={title}
          help={kind === 'costAbove' && currency ? `In ${currency}. ${help}` : help}
          path="condition"
          type={input}
          {...(input === 'number' && { min: 0, step: kind === 'costAbove' ? 'any' : 1 })}
          value={text}
          required
          spellCheck={false}
          onChange={set}
        />
      )}
    </>
  )
}
