import { type AuditItemFragment, OneAuditEntryDocument } from '../../generated/graphql.ts'
import type { PageSearch } from '../../ground/page-search.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatExact } from '../../parts/format.ts'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Empty, NotRead } from '../../parts/page-states.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './audit.module.css'
import { listDetails, nameObject } from './audit-filter.ts'
import { useObjectNames } from './object-names.ts'

interface EntryPanelProps {
  id: string
  onClose: () => void
  onFilter: (next: PageSearch) => void
}

export function EntryPanel({ id, onClose, onFilter }: EntryPanelProps) {
  const found = useQuery(OneAuditEntryDocument, { id })
  const entry = found.value && (found.value.node?.__typename === 'AuditEntry' ? found.value.node : null)
  return (
    <SidePanel title={entry?.operation ?? 'Entry'} onClose={onClose}>
      {entry === undefined && <NotRead of={found} />}
      {entry === null && <Empty title="This entry does not exist">Entries are never deleted: check its id.</Empty>}
      {entry && <EntryFacts entry={entry} onFilter={onFilter} />}
    </SidePanel>
  )
}

function EntryFacts({ entry, onFilter }: { entry: AuditItemFragment; onFilter: EntryPanelProps['onFilter'] }) {
  const { actor, actorName, operation, objectId, detail } = entry
  const names = useObjectNames([entry])
  return (
    <>
      <Facts
        facts={[
          [
            'When',
            <span key="at">
              {formatExact(Date.parse(entry.at))} (<Time at={entry.at} />)
            </span>,
          ],
          ['Who', actor ? <ObjectLink id={actor.id}>{actorName}</ObjectLink> : actorName],
          ['Object', objectId && <ObjectLink id={objectId}>{nameObject(entry, names)}</ObjectLink>],
          ['Object id', objectId && <code key="object">{objectId}</code>],
          ['From', entry.ip],
          ['Token', entry.token && <code key="token">{entry.token}…</code>],
          ['Request', entry.requestId && <code key="request">{entry.requestId}</code>],
        ]}
      />
      {detail && Object.keys(detail).length > 0 && (
        <section className={styles.details} aria-label="Details">
          <Facts facts={listDetails(detail)} />
        </section>
      )}
      <Facts
        facts={[
          ['Number', entry.seq],
          ['Hash', <code key="hash">{entry.hash}</code>],
          ['Id', <code key="id">{entry.id}</code>],
        ]}
      />
      <Buttons>
        <Button onClick={() => onFilter({ operation })}>All {operation}</Button>
        <Button onClick={() => onFilter({ actor: actor?.id })} disabled={!actor}>
          All by {actorName}
        </Button>
        {objectId && <Button onClick={() => onFilter({ object: objectId })}>All about this object</Button>}
      </Buttons>
    </>
  )
}
