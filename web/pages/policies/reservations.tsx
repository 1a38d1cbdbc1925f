import { ListReservationsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePages } from '../../ground/list-pages.ts'
import { useNow } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { ListBar } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Empty, Loading } from '../../parts/page-states.tsx'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './policies.module.css'
import { ReservationForm } from './reservation-form.tsx'
import { ReservationPanel } from './reservation-panel.tsx'
import { describeHeld, type Reservation } from './reserved-nodes.ts'
import { usePoliciesSearch } from './use-policies-search.ts'

const pageSize = 50
const everyMs = 10_000

export function Reservations() {
  const { search, change } = usePoliciesSearch()
  const may = useMay()
  const list = usePages(
    'reservations',
    async (after, signal) =>
      (await client.request(ListReservationsDocument, { after, first: pageSize }, { signal })).capacityReservations,
    { everyMs },
  )
  const close = () => change({ open: undefined })
  const created = (id: string) => {
    list.read()
    change({ open: id }, true)
  }
  const deleted = () => {
    list.read()
    close()
  }
  const chosen = list.value?.rows.find(({ id }) => id === search.open)
  const form = (
    <SidePanel title="New reservation" onClose={close}>
      <ReservationForm onCancel={close} onDone={created} />
    </SidePanel>
  )
  const details = search.open && (
    <SidePanel title={chosen?.name ?? 'Reservation'} onClose={close}>
      {chosen ? (
        <ReservationPanel reservation={chosen} onDelete={deleted} />
      ) : list.isLoading ? (
        <Loading />
      ) : (
        <Empty title="This reservation does not exist">It was deleted.</Empty>
      )}
    </SidePanel>
  )
  const add = may('RESERVATION_WRITE') && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      New reservation
    </Button>
  )
  return (
    <WithPanel panel={search.open === 'new' && may('RESERVATION_WRITE') ? form : details}>
      {add && <ListBar actions={add} />}
      <Listing
        list={list}
        noun="reservations"
        hasFilter={false}
        empty="A reservation gives nodes to the jobs of a project for some time."
        emptyActions={add}
      >
        {(rows) => (
          <Table
            label="Reservations"
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

/** Before, in or after its window. */
function Phase({ startsAt, endsAt }: Reservation) {
  const nowMs = useNow()
  if (nowMs < Date.parse(startsAt)) return <span className={styles.faint}>later</span>
  return nowMs < Date.parse(endsAt) ? <strong>now</strong> : <span className={styles.faint}>over</span>
}

const columns: readonly Column<Reservation>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Project', cell: ({ project }) => project },
  { title: 'When', cell: (reservation) => <Phase {...reservation} /> },
  { title: 'From', cell: ({ startsAt }) => <Time at={startsAt} /> },
  { title: 'Until', cell: ({ endsAt }) => <Time at={endsAt} /> },
  { title: 'Pool', isSecondary: true, cell: ({ pool }) => pool.name },
  { title: 'Holds', isSecondary: true, cell: ({ nodes }) => describeHeld(nodes) },
]
