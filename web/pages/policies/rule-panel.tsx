import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { describeCondition, toCondition, toConditionDraft } from '../../features/policies/conditions.ts'
import {
  ChangeRuleDocument,
  PendingOfRuleDocument,
  RemoveRuleDocument,
  type RuleItemFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { useResource } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatDuration, plural } from '../../parts/format.ts'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './policies.module.css'
import { readRule } from './read-policies.ts'
import { RuleForm } from './rule-form.tsx'
import { RulePreview } from './rule-preview.tsx'

const everyMs = 10_000

interface RulePanelProps {
  id: string
  onClose: () => void
  onChange: () => void
}

export function RulePanel({ id, onClose, onChange }: RulePanelProps) {
  const may = useMay()
  const [isEdited, setEdited] = useState(false)
  const { value: rule, failure, read } = useResource(`rule ${id}`, (signal) => readRule(id, signal), { everyMs })
  const saved = () => {
    setEdited(false)
    read()
    onChange()
  }
  const deleted = () => {
    onChange()
    onClose()
  }
  const isShown = rule && !isEdited
  return (
    <SidePanel
      title={rule?.name ?? 'Rule'}
      onClose={onClose}
      actions={isShown && may('RULE_WRITE') && <Button onClick={() => setEdited(true)}>Edit</Button>}
    >
      {rule === undefined && (failure ? <Failed failure={failure} onRetry={read} /> : <Loading />)}
      {rule === null && <Empty title="This rule does not exist">It was deleted.</Empty>}
      {rule && isEdited && <RuleForm rule={rule} onCancel={() => setEdited(false)} onDone={saved} />}
      {isShown && <RuleFacts rule={rule} />}
      {isShown && may('RULE_WRITE') && <RuleButtons rule={rule} onChange={saved} onDelete={deleted} />}
    </SidePanel>
  )
}

function RuleFacts({ rule }: { rule: RuleItemFragment }) {
  const may = useMay()
  const condition = toCondition(toConditionDraft(rule.condition))
  return (
    <>
      <Facts
        facts={[
          ['Applies', rule.enabled ? 'yes' : <span className={styles.off}>no, it is off</span>],
          ['Matches', `a job that ${describeCondition(rule.condition)}`],
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
    <div className={styles.buttons}>
      <Button disabled={isBusy} onClick={() => void toggle()}>
        {rule.enabled ? 'Switch off' : 'Switch on'}
      </Button>
      <Button onClick={() => void confirmDelete(rule, onDelete)}>Delete…</Button>
    </div>
  )
}

async function confirmDelete(rule: RuleItemFragment, onDone: () => void): Promise<void> {
  const pending = await client.request(PendingOfRuleDocument, { rule: rule.id }).catch(() => null)
  const count = pending?.approvals.nodes.length ?? 0
  const requests = pending?.approvals.pageInfo.hasNextPage ? 'More than 100 requests' : plural(count, 'request')
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Delete the rule ${rule.name}?`,
      effect: `A later job that ${describeCondition(rule.condition)} needs no approval by this rule. ${requests} of it that wait${count === 1 ? 's' : ''} for a decision stay${count === 1 ? 's' : ''}.`,
      jobs: [],
      command: `berth rules rm ${rule.id}`,
      confirmText: 'Delete rule',
      keepText: 'Keep',
      hasReason: false,
      run: async () => {
        const input = { approvalRuleId: rule.id, expectedVersion: rule.version }
        const { deleteApprovalRule } = await client.request(RemoveRuleDocument, { input }, { attempts: 4 })
        if (isRefused(deleteApprovalRule)) return deleteApprovalRule.message
        showToast(`Deleted ${rule.name}`)
        onDone()
        return null
      },
    },
  })
}
