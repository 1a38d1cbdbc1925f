import { ListReservationsDocument } from '../../generated/graphql.ts'
import { findRow, useList } from '../../ground/list-pages.ts'
import { useNow } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { ObjectList } from '../../parts/object-list.tsx'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './policies.module.css'
import { ReservationForm } from './reservation-form.tsx'
import { ReservationPanel } from './reservation-panel.tsx'
import { describeHeld, type Reservation } from './reserved-nodes.ts'

export function Reservations() {
  const may = useMay()
  const list = useList(ListReservationsDocument, {}, (found) => found.capacityReservations)
  return (
    <ObjectList
      list={list}
      noun="reservation"
      label="Reservations"
      columns={columns}
      empty="A reservation gives nodes to the jobs of a project for some time."
      form={may('RESERVATION_WRITE') && ((ends) => <ReservationForm {...ends} />)}
      panel={(id, ends) => <ReservationPanel of={findRow(list, id)} {...ends} />}
    />
  )
}

/** Shows whether the reservation is in the future, active, or over. */
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
