import { useId } from 'react'
import { FindUsersDocument } from '../../generated/graphql.ts'
import type { PageSearch } from '../../ground/page-search.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button } from '../../parts/button.tsx'
import { Choice, ListBar, SearchField } from '../../parts/list-bar.tsx'
import { operations } from './audit-filter.ts'

const sinceOptions = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const

interface AuditBarProps {
  search: PageSearch
  onChange: (next: PageSearch, replace?: boolean) => void
}

export function AuditBar({ search, onChange }: AuditBarProps) {
  const id = useId()
  const users = useQuery(FindUsersDocument, { first: 100 })
  return (
    <ListBar actions={<Button onClick={() => onChange({ entry: 'verify' })}>Verify</Button>}>
      <SearchField
        label="Action, such as job.*"
        text={search.operation ?? ''}
        listId={`${id}-operations`}
        onChange={(operation) => onChange({ operation }, true)}
      />
      <datalist id={`${id}-operations`}>
        {operations.map((operation) => (
          <option key={operation} value={operation} />
        ))}
      </datalist>
      <SearchField
        label="Id of an object"
        text={search.object ?? ''}
        hasKey={false}
        onChange={(object) => onChange({ object }, true)}
      />
      <Choice
        label="Who"
        any="Anyone"
        value={search.actor}
        options={users.value?.users.nodes.map(({ name }) => [name, name] as const) ?? []}
        onChange={(actor) => onChange({ actor })}
      />
      <Choice
        label="Since"
        any="Any time"
        value={search.since}
        options={sinceOptions}
        onChange={(since) => onChange({ since })}
      />
    </ListBar>
  )
}
