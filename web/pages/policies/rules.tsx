import { describeCondition } from '../../features/policies/conditions.ts'
import { ListRulesDocument, type RuleItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePages } from '../../ground/list-pages.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { formatDuration } from '../../parts/format.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import styles from './policies.module.css'
import { RuleForm } from './rule-form.tsx'
import { RulePanel } from './rule-panel.tsx'
import { usePoliciesSearch } from './use-policies-search.ts'

const pageSize = 50
const everyMs = 10_000

export function Rules() {
  const { search, change } = usePoliciesSearch()
  const may = useMay()
  const rules = usePages(
    'rules',
    async (after, signal) =>
      (await client.request(ListRulesDocument, { after, first: pageSize }, { signal })).approvalRules,
    { everyMs },
  )
  const close = () => change({ open: undefined })
  const created = (id: string) => {
    rules.read()
    change({ open: id }, true)
  }
  const form = (
    <SidePanel title="New rule" onClose={close}>
      <RuleForm onCancel={close} onDone={created} />
    </SidePanel>
  )
  const details = search.open && <RulePanel key={search.open} id={search.open} onClose={close} onChange={rules.read} />
  const add = may('RULE_WRITE') && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      New rule
    </Button>
  )
  return (
    <WithPanel panel={search.open === 'new' && may('RULE_WRITE') ? form : details}>
      <ListBar actions={add}>
        <span className={styles.faint}>Tried from the highest priority down; the first that matches decides.</span>
      </ListBar>
      <Listing
        list={rules}
        noun="rules"
        hasFilter={false}
        empty="A job that matches a rule waits until another user approves it."
        emptyActions={add}
      >
        {(rows) => (
          <Table
            label="Approval rules"
            columns={columns}
            rows={rows}
            getKey={({ id }) => id}
            openKey={search.open}
            onOpen={({ id }) => change({ open: id })}
          />
        )}
      </Listing>
    </WithPanel>
  )
}

const columns: readonly Column<RuleItemFragment>[] = [
  {
    title: 'Name',
    cell: ({ name, enabled }) => (
      <>
        {name} {!enabled && <span className={styles.off}>off</span>}
      </>
    ),
  },
  { title: 'A job needs an approval if it', cell: ({ condition }) => describeCondition(condition) },
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
