import { describeCondition } from '../../features/policies/conditions.ts'
import { useCurrency } from '../../features/policies/use-currency.ts'
import { ListRulesDocument, type RuleItemFragment } from '../../generated/graphql.ts'
import { useList } from '../../ground/list-pages.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatDuration } from '../../parts/format.ts'
import { ObjectList } from '../../parts/object-list.tsx'
import type { Column } from '../../parts/table.tsx'
import styles from './policies.module.css'
import { RuleForm } from './rule-form.tsx'
import { RulePanel } from './rule-panel.tsx'

export function Rules() {
  const may = useMay()
  return (
    <ObjectList
      list={useList(ListRulesDocument, {}, (found) => found.approvalRules)}
      noun="rule"
      label="Approval rules"
      columns={listColumns(useCurrency())}
      filters={
        <span className={styles.faint}>Tried from the highest priority down; the first that matches decides.</span>
      }
      empty="A job that matches a rule waits until another user approves it."
      form={may('RULE_WRITE') && ((ends) => <RuleForm {...ends} />)}
      panel={(id, ends) => <RulePanel id={id} {...ends} />}
    />
  )
}

const listColumns = (currency: string | null): readonly Column<RuleItemFragment>[] => [
  {
    title: 'Name',
    cell: ({ name, enabled }) => (
      <>
        {name} {!enabled && <span className={styles.off}>off</span>}
      </>
    ),
  },
  { title: 'A job needs an approval if it', cell: ({ condition }) => describeCondition(condition, currency) },
  { title: 'By', cell: ({ requiredLevel }) => requiredLevel.toLowerCase() },
  {
    title: 'Not for',
    isSecondary: true,
    cell: ({ exemptLevels }) => exemptLevels.map((each) => each.toLowerCase()).join(', '),
  },
  {
    title: 'Within',
    isSecondary: true,
    cell: ({ expiresAfterSeconds }) => formatDuration(expiresAfterSeconds * 1_000),
  },
  { title: 'Priority', isNumber: true, isSecondary: true, cell: ({ priority }) => priority },
]
