import { leadSql, lineJoins } from '../../domain/queue/line.ts'
import { holdingSql } from '../../domain/state.ts'
import type { Key, Listing } from './keyset.ts'

/** Rows and order of the lists of the API. */

export type JobOrderField = 'CREATED_AT' | 'STARTED_AT' | 'FINISHED_AT' | 'PRIORITY'

const text = (sql: string): Key => ({ sql, type: 'text' })
const number = (sql: string): Key => ({ sql, type: 'bigint' })
const time = (sql: string): Key => ({ sql, type: 'timestamptz' })

const jobKeys = {
  CREATED_AT: time('j.created_at'),
  // Jobs that never started sort after all others.
  STARTED_AT: time("coalesce(j.started_at, 'infinity')"),
  // Alive jobs sort after final ones.
  FINISHED_AT: time("coalesce(j.finished_at, 'infinity')"),
  PRIORITY: number('coalesce(j.priority_override, j.base_priority)::bigint'),
} satisfies Record<JobOrderField, Key>

/** A list in the order of its ids. */
const listById = (name: string, from: string, id: string): Listing => ({
  name,
  from,
  id,
  keys: [text(id)],
})

export const jobsListing = (field: JobOrderField, descending: boolean): Listing => ({
  name: `jobs/${field}/${descending ? 'DESC' : 'ASC'}`,
  from: 'job j',
  id: 'j.id',
  keys: [jobKeys[field], text('j.id')],
  descending,
})

/** Active jobs, then QUEUED jobs by position, then BLOCKED, then final ones. */
export const queueEntriesListing: Listing = {
  name: 'queue',
  from: `job j LEFT JOIN (queue_entry q ${lineJoins}) ON q.job_id = j.id`,
  id: 'j.id',
  keys: [
    number(
      `(CASE WHEN j.state IN ${holdingSql} THEN 0 WHEN j.state = 'QUEUED' THEN 1 WHEN j.state = 'BLOCKED' THEN 2 ELSE 3 END)::bigint`,
    ),
    number(`coalesce(CASE WHEN q.job_id IS NULL THEN 0 ELSE ${leadSql} END, 0)`),
    number('(-coalesce(q.bid, 0))::bigint'),
    number('coalesce(q.sequence, j.sequence)'),
    text('j.id'),
  ],
}

export const runsListing: Listing = {
  name: 'runs',
  from: '(SELECT * FROM run WHERE run.job_id = parent.id) r',
  id: 'r.id',
  keys: [number('r.number::bigint')],
}

/**
 * The parent is a job at a version: an event that was stored after the job was read must not appear, because a stream
 * from the job's `eventCursor` delivers it.
 */
export const formatEventsParent = ({ id, version }: { id: string; version: number }) => `${id}@${version}`
export const parseParentJobId = (parent: string) => parent.slice(0, parent.indexOf('@'))

export const eventsListing: Listing = {
  name: 'events',
  from: `(SELECT * FROM event WHERE event.job_id = split_part(parent.id, '@', 1)
    AND event.seq <= split_part(parent.id, '@', 2)::bigint) e`,
  id: `'event_' || substr(e.job_id, ${'job_'.length + 1}) || '_' || e.seq`,
  keys: [number('e.seq')],
}

export const artifactsListing: Listing = {
  name: 'artifacts',
  from: '(SELECT * FROM artifact WHERE artifact.job_id = parent.id) a',
  id: 'a.id',
  keys: [number('a.seq'), text('a.name')],
}

export const dependentsListing = listById(
  'dependents',
  '(SELECT DISTINCT job_id FROM dependency WHERE dependency.on_job_id = parent.id) d JOIN job j ON j.id = d.job_id',
  'j.id',
)

export const slotsListing: Listing = {
  name: 'slotReservations',
  from: 'slot_reservation s',
  id: 's.id',
  keys: [time('s.created_at'), text('s.id')],
  descending: true,
}

export const quotasListing = listById('quotas', 'quota q', 'q.id')

export const approvalsListing: Listing = {
  name: 'approvals',
  from: 'approval a JOIN job j ON j.id = a.job_id',
  id: 'a.id',
  keys: [time('a.requested_at'), text('a.id')],
  descending: true,
}

/** Rules in the order in which they are tried. */
export const approvalRulesListing: Listing = {
  name: 'approvalRules',
  from: 'approval_rule r',
  id: 'r.id',
  keys: [number('(-r.priority)::bigint'), time('r.created_at'), text('r.id')],
}

export const capacityReservationsListing: Listing = {
  name: 'capacityReservations',
  from: 'capacity_reservation c',
  id: 'c.id',
  keys: [time('c.starts_at'), text('c.id')],
}

export const auditListing: Listing = {
  name: 'auditLog',
  from: 'audit_entry a',
  id: 'a.id',
  keys: [number('a.seq')],
  descending: true,
}

export const poolNodesListing = listById('poolNodes', '(SELECT * FROM node WHERE node.pool = parent.id) n', 'n.id')

export const poolsListing = listById('pools', 'pool p', 'p.name')

export const gpusListing: Listing = {
  name: 'gpus',
  from: 'device d',
  id: "'gpu_' || d.node_id || '_' || d.device",
  keys: [text('d.node_id'), number('d.device::bigint')],
}

export const nodeRunsListing = listById(
  'nodeRuns',
  `(SELECT DISTINCT run_id FROM allocation WHERE allocation.node_id = parent.id) a
    JOIN run r ON r.id = a.run_id JOIN job j ON j.id = r.job_id`,
  'r.id',
)

export type PeopleOrder = 'CREATED_AT' | 'NAME'

/** Lists users or teams. The order by creation uses ids, which grow with time. */
const listPeople = (name: string, from: string, alias: string, by: PeopleOrder): Listing =>
  by === 'CREATED_AT'
    ? listById(name, from, `${alias}.id`)
    : { name: `${name}/NAME`, from, id: `${alias}.id`, keys: [text(`${alias}.name`)] }

export const usersListing = (by: PeopleOrder) => listPeople('users', '"user" u', 'u', by)

export const teamsListing = (by: PeopleOrder) => listPeople('teams', 'team t', 't', by)

export const teamMembersListing = listById(
  'teamMembers',
  '(SELECT * FROM team_member WHERE team_member.team_id = parent.id) m',
  'm.user_id',
)

export const secretsListing: Listing = {
  name: 'secrets',
  from: 'secret s',
  id: 's.id',
  keys: [text('s.name'), text('s.id')],
}

export const tokensListing = { ...listById('tokens', 'api_token t', 't.id'), descending: true }

const listDeliveries = (state: string, key: string, descending: boolean): Listing => ({
  name: `deliveries/${state}`,
  from: `(SELECT * FROM webhook_delivery w WHERE w.endpoint = parent.id AND w.state = '${state}') d`,
  id: 'd.id',
  keys: [time(key), text('d.id')],
  descending,
})

/** Pending deliveries are ordered by their next attempt, others newest first. */
export const deliveriesListings = {
  PENDING: listDeliveries('PENDING', 'd.due_at', false),
  DELIVERED: listDeliveries('DELIVERED', 'd.finished_at', true),
  DEAD: listDeliveries('DEAD', 'd.finished_at', true),
}
