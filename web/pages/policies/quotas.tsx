import {
  describeScope,
  formatAmount,
  quotaActions,
  quotaScopes,
  quotaTypes,
} from '../../features/policies/quota-texts.ts'
import { useCurrency } from '../../features/policies/use-currency.ts'
import {
  ListQuotasDocument,
  OwnQuotasDocument,
  type QuotaFilter,
  type QuotaItemFragment,
} from '../../generated/graphql.ts'
import { useList } from '../../ground/list-pages.ts'
import { type PageSearch, usePageSearch } from '../../ground/page-search.ts'
import { useQuery } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Facts } from '../../parts/facts.tsx'
import { Choice, SearchField } from '../../parts/list-bar.tsx'
import { ObjectList } from '../../parts/object-list.tsx'
import type { Column } from '../../parts/table.tsx'
import { UseBar } from '../../parts/use-bar.tsx'
import styles from './policies.module.css'
import { QuotaForm } from './quota-form.tsx'
import { QuotaPanel } from './quota-panel.tsx'

const everyMs = 10_000

const toOptions = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => [value.toLowerCase().replaceAll('_', '-'), text] as const)
const options = { scope: toOptions(quotaScopes), type: toOptions(quotaTypes), action: toOptions(quotaActions) }

/** Reads a value of the API from the URL; undefined: missing or invalid. */
const choose = <Value extends string>(text: string | undefined, texts: Readonly<Record<Value, string>>) =>
  (Object.keys(texts) as Value[]).find((each) => each === text?.toUpperCase().replaceAll('-', '_'))

function toQuotaFilter(search: PageSearch): QuotaFilter {
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
  const { search, change } = usePageSearch()
  const may = useMay()
  const filter = toQuotaFilter(search)
  return (
    <ObjectList
      list={useList(ListQuotasDocument, { filter }, (found) => found.quotas)}
      noun="quota"
      label="Quotas"
      columns={listColumns(useCurrency())}
      filters={<QuotaFilters search={search} onChange={change} />}
      above={<OwnQuotas />}
      clear={
        Object.keys(filter).length > 0 &&
        (() => change({ scope: undefined, type: undefined, action: undefined, key: undefined }))
      }
      empty="A quota is checked when a job is submitted: one that exceeds it is refused, gets a warning or needs an approval."
      form={may('QUOTA_WRITE') && ((ends) => <QuotaForm {...ends} />)}
      panel={(id, ends) => <QuotaPanel id={id} {...ends} />}
    />
  )
}

interface QuotaFiltersProps {
  search: PageSearch
  onChange: (next: PageSearch, replace?: boolean) => void
}

const QuotaFilters = ({ search, onChange }: QuotaFiltersProps) => (
  <>
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
  </>
)

const listColumns = (currency: string | null): readonly Column<QuotaItemFragment>[] => [
  { title: 'Of', cell: ({ scope }) => describeScope(scope) },
  { title: 'Counts', cell: ({ type }) => quotaTypes[type] },
  { title: 'At most', isNumber: true, cell: ({ type, limit }) => formatAmount(type, limit, currency) },
  { title: 'A submission beyond it', isSecondary: true, cell: ({ action }) => quotaActions[action] },
]

/** Shows the quotas that apply to the viewer with their use, nearest to the limit first. */
function OwnQuotas() {
  const currency = useCurrency()
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
            <UseBar
              key={type}
              label={quotaTypes[type]}
              used={used}
              limit={limit}
              format={(amount) => formatAmount(type, amount, currency)}
            />,
          ])}
      />
    </section>
  )
}
