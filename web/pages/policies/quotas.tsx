import type { ReactNode } from 'react'
import {
  ListQuotasDocument,
  OwnQuotasDocument,
  type QuotaFilter,
  type QuotaItemFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePages } from '../../ground/list-pages.ts'
import { useQuery } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Choice, ListBar, SearchField } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { UseBar } from '../../parts/use-bar.tsx'
import styles from './policies.module.css'
import { QuotaForm } from './quota-form.tsx'
import { QuotaPanel } from './quota-panel.tsx'
import { describeScope, formatAmount, quotaActions, quotaScopes, quotaTypes } from './quota-texts.ts'
import { type PoliciesSearch, usePoliciesSearch } from './use-policies-search.ts'

const pageSize = 50
const everyMs = 10_000

const toOptions = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => [value.toLowerCase().replaceAll('_', '-'), text] as const)
const options = { scope: toOptions(quotaScopes), type: toOptions(quotaTypes), action: toOptions(quotaActions) }

/** The value of the API; undefined: the URL has none, or another. */
const choose = <Value extends string>(text: string | undefined, texts: Readonly<Record<Value, string>>) =>
  (Object.keys(texts) as Value[]).find((each) => each === text?.toUpperCase().replaceAll('-', '_'))

function toQuotaFilter(search: PoliciesSearch): QuotaFilter {
  const [scope, type] = [choose(search.scope, quotaScopes), choose(search.type, quotaTypes)]
  const action = choose(search.action, quotaActions)
  return {
    ...(scope && { scopes: [scope] }),
    ...(type && { types: [type] }),
    ...(action && { actions: [action] }),
    ...(search.key && { names: [search.key] }),
  }
}

export function Quotas() {
  const { search, change } = usePoliciesSearch()
  const may = useMay()
  const filter = toQuotaFilter(search)
  const quotas = usePages(
    `quotas ${JSON.stringify(filter)}`,
    async (after, signal) =>
      (await client.request(ListQuotasDocument, { filter, after, first: pageSize }, { signal })).quotas,
    { everyMs },
  )
  const close = () => change({ open: undefined })
  const created = (id: string) => {
    quotas.read()
    change({ open: id }, true)
  }
  const form = (
    <SidePanel title="New quota" onClose={close}>
      <QuotaForm onCancel={close} onDone={created} />
    </SidePanel>
  )
  const details = search.open && (
    <QuotaPanel key={search.open} id={search.open} onClose={close} onChange={quotas.read} />
  )
  const add = may('QUOTA_WRITE') && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      New quota
    </Button>
  )
  return (
    <WithPanel panel={search.open === 'new' && may('QUOTA_WRITE') ? form : details}>
      <QuotaBar search={search} actions={add} onChange={change} />
      <OwnQuotas />
      <Listing
        list={quotas}
        noun="quotas"
        hasFilter={Object.keys(filter).length > 0}
        clear={() => change({ scope: undefined, type: undefined, action: undefined, key: undefined })}
        empty="A quota is checked when a job is submitted: one that exceeds it is refused, gets a warning or needs an approval."
        emptyActions={add}
      >
        {(rows) => (
          <Table
            label="Quotas"
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

interface QuotaBarProps {
  search: PoliciesSearch
  actions: ReactNode
  onChange: (next: PoliciesSearch, replace?: boolean) => void
}

const QuotaBar = ({ search, actions, onChange }: QuotaBarProps) => (
  <ListBar actions={actions}>
    <SearchField label="Name" text={search.key ?? ''} onChange={(key) => onChange({ key }, true)} />
    <Choice
      label="Of"
      any="Of anyone"
      value={search.scope}
      options={options.scope}
      onChange={(scope) => onChange({ scope })}
    />
    <Choice
      label="Counts"
      any="Counts anything"
      value={search.type}
      options={options.type}
      onChange={(type) => onChange({ type })}
    />
    <Choice
      label="Beyond it"
      any="Any effect"
      value={search.action}
      options={options.action}
      onChange={(action) => onChange({ action })}
    />
  </ListBar>
)

const columns: readonly Column<QuotaItemFragment>[] = [
  { title: 'Of', cell: ({ scope }) => describeScope(scope) },
  { title: 'Counts', cell: ({ type }) => quotaTypes[type] },
  { title: 'At most', isNumber: true, cell: ({ limit }) => formatAmount(limit) },
  { title: 'A submission beyond it', isSecondary: true, cell: ({ action }) => quotaActions[action] },
]

/** The viewer's own use of the quotas that apply, nearest to the limit first. */
function OwnQuotas() {
  const { value } = useQuery(OwnQuotasDocument, {}, { everyMs })
  const quotas = value?.viewer.quotas ?? []
  if (quotas.length === 0) return null
  const share = ({ used, limit }: { used: number; limit: number }) => (limit === 0 ? 1 : used / limit)
  return (
    <section className={styles.own} aria-label="Your use">
      <h2>Your use</h2>
      <Facts
        facts={quotas
          .toSorted((one, other) => share(other) - share(one))
          .map(({ type, scope, used, limit, action }) => [
            `${quotaTypes[type]}${scope.kind === 'USER' ? '' : `, ${describeScope(scope)}`}, then ${quotaActions[action]}`,
            <UseBar key={type} label={quotaTypes[type]} used={used} limit={limit} format={formatAmount} />,
          ])}
      />
    </section>
  )
}
