import type { Sql } from '../../platform/tx.ts'
import { dependencyMetSql } from '../jobs/dependencies.ts'
import { getWindowState } from '../machines/reservation-window.ts'
import { makeReason, type Reason } from '../reason.ts'
import type { JobSpec } from '../spec.ts'

/** A condition that must be open before a job may start. */
export interface Gate {
  code: 'APPROVAL' | 'NOT_BEFORE' | 'DEPENDENCY' | 'RESERVATION_WINDOW' | 'RESTART_BACKOFF'
  open: boolean
  detail: string | null
  opensAt: Date | null
}

export interface GateFacts {
  now: Date
  /** null: no approval was needed. */
  approvedAt: Date | null
  notBefore: Date | null
  eligibleAt: Date
  depends: boolean
  openDependency: string | null
  reservation: NamedWindow | null
  /** Message about the end of the last run; null: the job has not run yet. */
  lastInfo: string | null
}

/** A reservation; if it was deleted, only the id is set. */
interface NamedWindow {
  id: string
  startsAt: string | null
  endsAt: string | null
  name: string | null
}

export function listGates(facts: GateFacts): Gate[] {
  const { now, approvedAt, notBefore, eligibleAt, depends, openDependency, reservation, lastInfo } = facts
  const gates: Gate[] = []
  if (approvedAt) gates.push({ code: 'APPROVAL', open: true, detail: null, opensAt: approvedAt })
  if (notBefore) gates.push({ code: 'NOT_BEFORE', open: notBefore <= now, detail: null, opensAt: notBefore })
  if (depends || openDependency)
    gates.push({ code: 'DEPENDENCY', open: openDependency === null, detail: openDependency, opensAt: null })
  const window = reservation && windowGate(reservation, now)
  if (window) gates.push(window)
  const isOfAnother = (opensAt: Date | null | undefined) => opensAt != null && opensAt >= eligibleAt
  const isRemoved = reservation !== null && reservation.startsAt === null
  if (eligibleAt > now && !isRemoved && !isOfAnother(notBefore) && !isOfAnother(window?.opensAt))
    gates.push({ code: 'RESTART_BACKOFF', open: false, detail: lastInfo, opensAt: eligibleAt })
  return gates
}

function windowGate({ id, name, startsAt, endsAt }: NamedWindow, now: Date): Gate {
  const gate = { code: 'RESERVATION_WINDOW', open: false, opensAt: null } as const
  if (startsAt === null || endsAt === null)
    return { ...gate, detail: `Reservation ${id} was deleted; cancel the job or submit it without the reservation` }
  const [starts, ends] = [new Date(startsAt), new Date(endsAt)]
  const state = getWindowState({ startsMs: starts.getTime(), endsMs: ends.getTime() }, now.getTime())
  if (state === 'OVER')
    return {
      ...gate,
      detail: `The window of reservation ${name} has ended; cancel the job or submit it without the reservation`,
    }
  return { ...gate, open: state === 'OPEN', detail: `Reservation ${name}`, opensAt: starts }
}

function gateReason({ code, detail, opensAt }: Gate): Reason {
  if (code === 'DEPENDENCY') return makeReason(code, `Waiting for ${detail} to finish`, detail)
  if (code === 'RESTART_BACKOFF' && detail && opensAt)
    return makeReason(code, `${detail}. The next start is after ${opensAt.toISOString()}`)
  if (code === 'APPROVAL') return makeReason('APPROVAL_PENDING', detail ?? 'Waiting for approval')
  return makeReason(code, opensAt ? `Waiting until ${opensAt.toISOString()}` : (detail ?? 'Waiting'))
}

export const listClosedReasons = (gates: readonly Gate[]): Reason[] => gates.filter(({ open }) => !open).map(gateReason)

/** Reads the gates of a job that is not stored. `now`: the time of the read. */
export async function readGatesOfSpec(sql: Sql, spec: JobSpec): Promise<{ gates: Gate[]; now: Date }> {
  const notBefore = spec.notBefore ? new Date(spec.notBefore) : null
  const [row] = await sql.query<Omit<GateFacts, 'notBefore' | 'eligibleAt'>>(unstoredSql, [
    JSON.stringify(spec.dependsOn),
    spec.capacityReservationId,
  ])
  if (!row) throw new Error('The query for the time returned no row')
  return { gates: listGates({ ...row, notBefore, eligibleAt: row.now }), now: row.now }
}

export const findClosedGate = async (sql: Sql, spec: JobSpec): Promise<Reason | null> =>
  listClosedReasons((await readGatesOfSpec(sql, spec)).gates)[0] ?? null

/** SQL that selects the window of a reservation. `named`: an SQL expression for its id. */
export const windowSql = (named: string) =>
  `(SELECT jsonb_build_object('id', n.id, 'name', r.name, 'startsAt', r.starts_at, 'endsAt', r.ends_at)
    FROM (SELECT ${named} AS id) n LEFT JOIN capacity_reservation r ON r.id = n.id WHERE n.id IS NOT NULL)`

const unstoredSql = `
SELECT berth_now() AS now,
  NULL::timestamptz AS "approvedAt", NULL::text AS "lastInfo", $1::text <> '[]' AS depends,
  (SELECT o.id FROM jsonb_to_recordset($1::text::jsonb) AS d("jobId" text, "on" text) JOIN job o ON o.id = d."jobId"
    WHERE NOT ${dependencyMetSql} LIMIT 1) AS "openDependency",
  ${windowSql('$2::text')} AS reservation`
