import { useMemo, useState } from 'react'
import { useUserNames } from '../../features/jobs/filter/use-names.ts'
import { type AuditFilter, type AuditItemFragment, ListAuditDocument } from '../../generated/graphql.ts'
import { useList } from '../../ground/list-pages.ts'
import { type PageSearch, usePageSearch } from '../../ground/page-search.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { FoldButton, type Folded, useFolds } from '../../parts/folds.tsx'
import { Forbidden } from '../../parts/forbidden.tsx'
import { Listing } from '../../parts/listing.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Empty, NotRead } from '../../parts/page-states.tsx'
import { WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Moment } from '../../parts/time.tsx'
import styles from './audit.module.css'
import { AuditBar } from './audit-bar.tsx'
import { filterKeys, nameObject, toAuditFilter } from './audit-filter.ts'
import { EntryPanel } from './entry-panel.tsx'
import { useObjectNames } from './object-names.ts'
import { VerifyPanel } from './verify-panel.tsx'

const everyMs = 5_000

export function AuditPage() {
  usePageTitle('Audit log')
  return useMay()('AUDIT_READ') ? <AuditLog /> : <Forbidden permission="AUDIT_READ" />
}

function AuditLog() {
  const { search, change } = usePageSearch()
  const users = useUserNames(search.actor)
  const key = filterKeys.map((each) => search[each]).join('\n')
  // Relative times such as "24h" are computed again only when the filter changes.
  const { filter, problems } = useMemo(
    () => toAuditFilter(search, { users: users.value ?? new Map(), nowMs: serverNowMs() }),
    [key, users.value],
  )
  const clear = () => change(Object.fromEntries(filterKeys.map((each) => [each, undefined])))
  return (
    <WithPanel panel={<Panel search={search} onChange={change} />}>
      <AuditBar search={search} onChange={change} />
      {!users.value && <NotRead of={users} />}
      {users.value && problems.length > 0 && (
        <Empty title="The filter has a mistake" actions={<Button onClick={clear}>Clear the filter</Button>}>
          {problems.join(' ')}
        </Empty>
      )}
      {users.value && problems.length === 0 && (
        <Entries filter={filter} search={search} clear={clear} onChange={change} />
      )}
    </WithPanel>
  )
}

function Panel({ search: { entry }, onChange }: { search: PageSearch; onChange: (next: PageSearch) => void }) {
  const close = () => onChange({ entry: undefined })
  if (!entry) return null
  if (entry === 'verify') return <VerifyPanel onClose={close} />
  return <EntryPanel key={entry} id={entry} onClose={close} onFilter={onChange} />
}

interface EntriesProps {
  filter: AuditFilter
  search: PageSearch
  clear: () => void
  onChange: (next: PageSearch) => void
}

function Entries({ filter, search, clear, onChange }: EntriesProps) {
  const list = useList(ListAuditDocument, { filter }, (found) => found.auditLog, { everyMs })
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
        clear={Object.keys(filter).length > 0 && clear}
        empty="Each change that a person makes leaves an entry here."
        moreText="Older"
      >
        {(rows) => (
          <div onPointerEnter={() => setUnderPointer(true)} onPointerLeave={() => setUnderPointer(false)}>
            <EntryTable rows={rows} openId={search.entry} onOpen={(entry) => onChange({ entry })} />
          </div>
        )}
      </Listing>
    </>
  )
}

const none: readonly AuditItemFragment[] = []

/** While the list is held, hides new entries at its beginning. Older entries are still added at its end. */
function useHeldEntries(rows: readonly AuditItemFragment[] = none, isHeld: boolean) {
  const [newestId, setNewest] = useState(rows[0]?.id)
  const at = rows.findIndex(({ id }) => id === newestId)
  // After a change of the filter, the former newest entry is not in the list.
  const isFree = !isHeld || at === -1
  if (isFree && rows[0]?.id !== newestId) setNewest(rows[0]?.id)
  return {
    shown: isFree ? rows : rows.slice(at),
    newCount: isFree ? 0 : at,
    apply: () => setNewest(rows[0]?.id),
  }
}

type Row = Folded<AuditItemFragment>

/** Length of a time up to its seconds: `2026-11-24T10:00:00`. */
const secondLength = 19

/** Entries with the same operation, user, token and address count as equal. */
const describe = ({ operation, actorName, ip, token }: AuditItemFragment) =>
  JSON.stringify([operation, actorName, ip, token])

interface EntryTableProps {
  rows: readonly AuditItemFragment[]
  openId: string | undefined
  onOpen: (id: string) => void
}

function EntryTable({ rows, openId, onOpen }: EntryTableProps) {
  const { folded, toggle } = useFolds(rows, { getKey: ({ id }) => id, describe, shownKey: openId })
  const names = useObjectNames(rows)
  return (
    <Table
      label="Audit log"
      columns={listColumns(names, toggle)}
      rows={folded}
      getKey={({ row }) => row.id}
      openKey={openId}
      onOpen={({ row }) => onOpen(row.id)}
    />
  )
}

const listColumns = (names: ReadonlyMap<string, string>, toggle: (row: Row) => void): readonly Column<Row>[] => [
  { title: 'Operation', cell: ({ row: { operation } }) => <span className={styles.nowrap}>{operation}</span> },
  {
    title: 'When',
    cell: ({ row, equal, isOpen }) => {
      const last = isOpen ? null : equal?.at(-1)
      const oldest = last?.at.slice(0, secondLength) === row.at.slice(0, secondLength) ? null : last
      return (
        <span className={styles.nowrap}>
          {oldest && (
            <>
              <Moment at={oldest.at} /> –{' '}
            </>
          )}
          <Moment at={row.at} />
        </span>
      )
    },
  },
  { title: 'Who', cell: ({ row: { actorName } }) => <span className={styles.nowrap}>{actorName}</span> },
  {
    title: 'Object',
    cell: (folded) => (
      <span className={styles.object}>
        <FoldButton folded={folded} toggle={toggle} />
        {folded.row.objectId && <ObjectLink id={folded.row.objectId}>{nameObject(folded.row, names)}</ObjectLink>}
        {folded.equal && !folded.isOpen && ' …'}
      </span>
    ),
  },
  { title: 'From', isSecondary: true, cell: ({ row: { ip } }) => ip },
  { title: 'Token', isSecondary: true, cell: ({ row: { token } }) => token && <code>{token}…</code> },
  { title: 'No.', isNumber: true, isSecondary: true, cell: ({ row: { seq } }) => seq },
]
