import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import {
  type AuditFilter,
  type AuditItemFragment,
  FindUsersDocument,
  ListAuditDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePages } from '../../ground/list-pages.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Forbidden } from '../../parts/forbidden.tsx'
import { Listing } from '../../parts/listing.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Empty, Loading } from '../../parts/page-states.tsx'
import { WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './audit.module.css'
import { AuditBar } from './audit-bar.tsx'
import { type AuditSearch, filterKeys, toAuditFilter } from './audit-filter.ts'
import { EntryPanel } from './entry-panel.tsx'
import { useHeldEntries } from './held-entries.ts'
import { VerifyPanel } from './verify-panel.tsx'

const pageSize = 50
const everyMs = 5_000

export function AuditPage() {
  usePageTitle('Audit log')
  return useMay()('AUDIT_READ') ? <AuditLog /> : <Forbidden permission="AUDIT_READ" />
}

/** Ids of the users that the filter names. */
function useActors(names: string | undefined) {
  const wanted = names?.split(',').filter((name) => name !== '' && !name.startsWith('user_')) ?? []
  return useResource(
    `actors ${wanted.join()}`,
    async (signal) => {
      const pages = await Promise.all(
        wanted.map((text) => client.request(FindUsersDocument, { filter: { text }, first: 100 }, { signal })),
      )
      return new Map(pages.flatMap(({ users }) => users.nodes.map(({ id, name }) => [name, id] as const)))
    },
    { isOff: wanted.length === 0 },
  )
}

function AuditLog() {
  const search: AuditSearch = useSearch({ from: '/audit' })
  const navigate = useNavigate({ from: '/audit' })
  const users = useActors(search.actor)
  const isKnown = !search.actor || search.actor.startsWith('user_') || users.value !== undefined
  const key = filterKeys.map((each) => search[each]).join('\n')
  // Times that count back from now move on with another filter.
  const { filter, problems } = useMemo(
    () => toAuditFilter(search, { users: users.value ?? new Map(), nowMs: serverNowMs() }),
    [key, users.value],
  )
  const change = (next: AuditSearch, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  const clear = () => change(Object.fromEntries(filterKeys.map((each) => [each, undefined])))
  return (
    <WithPanel panel={<Panel search={search} onChange={change} />}>
      <AuditBar search={search} onChange={change} />
      {!isKnown && <Loading />}
      {isKnown && problems.length > 0 && (
        <Empty title="The filter has a mistake" actions={<Button onClick={clear}>Clear the filter</Button>}>
          {problems.join(' ')}
        </Empty>
      )}
      {isKnown && problems.length === 0 && <Entries filter={filter} search={search} clear={clear} onChange={change} />}
    </WithPanel>
  )
}

function Panel({ search: { entry }, onChange }: { search: AuditSearch; onChange: (next: AuditSearch) => void }) {
  const close = () => onChange({ entry: undefined })
  if (!entry) return null
  if (entry === 'verify') return <VerifyPanel onClose={close} />
  return <EntryPanel key={entry} id={entry} onClose={close} onFilter={onChange} />
}

interface EntriesProps {
  filter: AuditFilter
  search: AuditSearch
  clear: () => void
  onChange: (next: AuditSearch) => void
}

function Entries({ filter, search, clear, onChange }: EntriesProps) {
  const list = usePages(
    `audit ${JSON.stringify(filter)}`,
    async (after, signal) =>
      (await client.request(ListAuditDocument, { filter, after, first: pageSize }, { signal })).auditLog,
    { everyMs },
  )
  const [isUnderPointer, setUnderPointer] = useState(false)
  const { shown, newCount, apply } = useHeldEntries(list.value?.rows, isUnderPointer || !!search.entry)
  const value = list.value && { ...list.value, rows: shown }
  return (
    <>
      {newCount > 0 && (
        <Button look="primary" className={styles.pill ?? ''} onClick={apply}>
          {newCount === 1 ? '1 new entry' : `${newCount} new entries`}
        </Button>
      )}
      <Listing
        list={{ ...list, value }}
        noun="entries"
        hasFilter={Object.keys(filter).length > 0}
        clear={clear}
        empty="Each change that a person makes leaves an entry here."
        moreText="Older"
      >
        {(rows) => (
          <div onPointerEnter={() => setUnderPointer(true)} onPointerLeave={() => setUnderPointer(false)}>
            <Table
              label="Audit log"
              columns={columns}
              rows={rows}
              getKey={({ id }) => id}
              openKey={search.entry}
              onOpen={({ id }) => onChange({ entry: id })}
            />
          </div>
        )}
      </Listing>
    </>
  )
}

const describeObject = ({ detail, objectId }: AuditItemFragment) =>
  typeof detail?.['name'] === 'string' ? detail['name'] : objectId

const columns: readonly Column<AuditItemFragment>[] = [
  { title: 'Operation', cell: ({ operation }) => <span className={styles.nowrap}>{operation}</span> },
  {
    title: 'When',
    cell: ({ at }) => (
      <span className={styles.nowrap}>
        <Time at={at} />
      </span>
    ),
  },
  { title: 'Who', cell: ({ actorName }) => <span className={styles.nowrap}>{actorName}</span> },
  {
    title: 'Object',
    cell: (entry) =>
      entry.objectId && (
        <span className={styles.object}>
          <ObjectLink id={entry.objectId}>{describeObject(entry)}</ObjectLink>
        </span>
      ),
  },
  { title: 'From', isSecondary: true, cell: ({ ip }) => ip },
  { title: 'Token', isSecondary: true, cell: ({ token }) => token && <code>{token}…</code> },
  { title: 'No.', isNumber: true, isSecondary: true, cell: ({ seq }) => seq },
]
