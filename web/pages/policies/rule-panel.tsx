import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { describeCondition, toCondition, toConditionDraft } from '../../features/policies/conditions.ts'
import { useCurrency } from '../../features/policies/use-currency.ts'
import {
  ChangeRuleDocument,
  PendingOfRuleDocument,
  RemoveRuleDocument,
  type RuleItemFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { Facts } from '../../parts/facts.tsx'
import { formatDuration, plural } from '../../parts/format.ts'
import { ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './policies.module.css'
import { RuleForm, readRule } from './rule-form.tsx'
import { RulePreview } from './rule-preview.tsx'

const everyMs = 10_000

export function RulePanel({ id, ...ends }: PanelCallbacks & { id: string }) {
  const may = useMay()
  const rule = useResource(`rule ${id}`, (signal) => readRule(id, signal), { everyMs })
  return (
    <ObjectPanel
      of={rule}
      title={({ name }) => name}
      noun="Rule"
      gone={<Empty title="This rule does not exist">It was deleted.</Empty>}
      form={may('RULE_WRITE') && ((value, formEnds) => <RuleForm rule={value} {...formEnds} />)}
      {...ends}
    >
      {(value, { changed, deleted }) => (
        <>
          <RuleFacts rule={value} />
          {may('RULE_WRITE') && <RuleButtons rule={value} onChange={changed} onDelete={deleted} />}
        </>
      )}
    </ObjectPanel>
  )
}

function RuleFacts({ rule }: { rule: RuleItemFragment }) {
  const may = useMay()
  const currency = useCurrency()
  const condition = toCondition(toConditionDraft(rule.condition))
  return (
    <>
      <Facts
        facts={[
          ['Applies', rule.enabled ? 'yes' : <span className={styles.off}>no, it is off</span>],
          ['Matches', `a job that ${describeCondition(rule.condition, currency)}`],
          ['Not for', rule.exemptLevels.map((each) => each.toLowerCase()).join(', ')],
          ['Decided by', `${rule.requiredLevel.toLowerCase()} or above`],
          ['Expires after', formatDuration(rule.expiresAfterSeconds * 1_000)],
          ['Priority', String(rule.priority)],
          [
            'Requests',
            <Link key="approvals" to="/approvals" search={{ rule: rule.name }}>
              Approvals of this rule
            </Link>,
          ],
          ['Id', <code key="id">{rule.id}</code>],
        ]}
      />
      {condition && may('RULE_WRITE') && <RulePreview condition={condition} exemptLevels={rule.exemptLevels} />}
    </>
  )
}

interface RuleButtonsProps {
  rule: RuleItemFragment
  onChange: () => void
  onDelete: () => void
}

function RuleButtons({ rule, onChange, onDelete }: RuleButtonsProps) {
  const currency = useCurrency()
  const [isBusy, setBusy] = useState(false)
  const toggle = async () => {
    setBusy(true)
    const input = { approvalRuleId: rule.id, enabled: !rule.enabled, expectedVersion: rule.version }
    const { updateApprovalRule: result } = await client
      .request(ChangeRuleDocument, { input }, { attempts: 4 })
      .finally(() => setBusy(false))
    if (isRefused(result)) showToast(result.message, { isTrouble: true })
    else showToast(result.rule.enabled ? `${rule.name} applies to later submissions` : `${rule.name} is off`)
    onChange()
  }
  return (
    <Buttons>
      <Button disabled={isBusy} onClick={() => void toggle()}>
        {rule.enabled ? 'Switch off' : 'Switch on'}
      </Button>
      <Button onClick={() => void confirmDelete(rule, currency, onDelete)}>Delete…</Button>
    </Buttons>
  )
}

async function confirmDelete(rule: RuleItemFragment, currency: string | null, onDone: () => void): Promise<void> {
  const pending = await client.request(PendingOfRuleDocument, { rule: rule.id }).catch(() => null)
  const count = pending?.approvals.nodes.length ?? 0
  const requests = pending?.approvals.pageInfo.hasNextPage ? 'More than 100 requests' : plural(count, 'request')
  confirmChange({
    title: `Delete the rule ${rule.name}?`,
    effect: `A later job that ${describeCondition(rule.condition, currency)} needs no approval by this rule. ${requests} of it that wait${count === 1 ? 's' : ''} for a decision stay${count === 1 ? 's' : ''}.`,
    command: `berth rules rm ${rule.id}`,
    confirmText: 'Delete rule',
    change: async () => {
      const input = { approvalRuleId: rule.id, expectedVersion: rule.version }
      return (await client.request(RemoveRuleDocument, { input }, { attempts: 4 })).deleteApprovalRule
    },
    toast: `Deleted ${rule.name}`,
    onDone,
  })
}
