import { Link } from '@tanstack/react-router'
import { countJobs, noJobs } from '../../features/jobs/rows/count-jobs.ts'
import { RemoveReservationDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import type { FoundRow } from '../../ground/list-pages.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatExact, plural } from '../../parts/format.ts'
import { ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty } from '../../parts/page-states.tsx'
import styles from './policies.module.css'
import { describeHeld, type Reservation } from './reserved-nodes.ts'

const countProject = async (project: string, signal?: AbortSignal) =>
  (await countJobs('PROJECT', { projects: [project] }, signal)).get(project) ?? noJobs

export function ReservationPanel({ of, ...ends }: PanelCallbacks & { of: FoundRow<Reservation> }) {
  const may = useMay()
  return (
    <ObjectPanel
      of={of}
      title={({ name }) => name}
      noun="Reservation"
      gone={<Empty title="This reservation does not exist">It was deleted.</Empty>}
      {...ends}
    >
      {(reservation, { deleted }) => (
        <>
          <ReservationFacts reservation={reservation} />
          {may('RESERVATION_WRITE') && (
            <Buttons>
              <Button onClick={() => void confirmDelete(reservation, deleted)}>Delete…</Button>
            </Buttons>
          )}
        </>
      )}
    </ObjectPanel>
  )
}

function ReservationFacts({ reservation }: { reservation: Reservation }) {
  const { project, pool, nodes } = reservation
  const { value } = useResource(`jobs of project ${project}`, (signal) => countProject(project, signal))
  const command = `berth submit --project ${project} --reservation ${reservation.id} -- …`
  return (
    <Facts
      facts={[
        ['Project', project],
        [
          'Its jobs',
          <Link key="jobs" to="/jobs" search={{ project, state: 'active,waiting' }}>
            {value ? `${value.active} running, ${value.waiting} waiting` : 'Jobs of the project'}
          </Link>,
        ],
        ['From', formatExact(Date.parse(reservation.startsAt))],
        ['Until', formatExact(Date.parse(reservation.endsAt))],
        ['At its end', reservation.hard ? 'running jobs are ended' : 'running jobs finish'],
        [
          'Pool',
          <Link key="pool" to="/cluster/$pool" params={{ pool: pool.name }}>
            {pool.name}
          </Link>,
        ],
        ['Holds', describeHeld(nodes)],
        [
          'Nodes',
          nodes.map(({ id, name, state }, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <Link to="/cluster/$pool" params={{ pool: pool.name }} search={{ node: name }}>
                {name}
              </Link>
              {state !== 'READY' && ` (${state.toLowerCase()})`}
            </span>
          )),
        ],
        ['At the backend', reservation.nativeId],
        [
          'Used by',
          <span key="command" className={styles.row}>
            <code>{command}</code>
            <CopyButton text={command} what="command" />
          </span>,
        ],
        ['Id', <code key="id">{reservation.id}</code>],
      ]}
    />
  )
}

async function confirmDelete(reservation: Reservation, onDone: () => void): Promise<void> {
  const { id, name, project, nodes, endsAt } = reservation
  const numbers = await countProject(project).catch(() => null)
  const isOver = Date.parse(endsAt) <= serverNowMs()
  const effect = isOver
    ? 'Its window is over.'
    : `${describeHeld(nodes)} can be used by all jobs at once. Running jobs continue. Jobs that name it and wait keep waiting until they are cancelled${numbers ? `; ${plural(numbers.waiting, 'job')} of ${project} wait${numbers.waiting === 1 ? 's' : ''} now` : ''}.`
  confirmChange({
    title: `Delete the reservation ${name}?`,
    effect,
    command: `berth reservation rm ${id}`,
    confirmText: 'Delete reservation',
    change: async () => {
      const input = { capacityReservationId: id }
      return (await client.request(RemoveReservationDocument, { input }, { attempts: 4 })).deleteCapacityReservation
    },
    toast: `Deleted ${name}`,
    onDone,
  })
}
