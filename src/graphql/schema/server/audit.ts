import { demandToRead } from '../../../domain/access.ts'
import { type Verification, verifyAudit } from '../../../domain/audit/audit-verify.ts'
import type { AuditEntry } from '../../../platform/generated/client.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { checkCost, limits } from '../../caller-limits.ts'
import { readList, toConnection } from '../../rows/connection.ts'
import type { Bind } from '../../rows/keyset.ts'
import { auditListing } from '../../rows/listings.ts'
import { pageCost } from '../../rows/page.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { exposeColumns, objectFieldOrNull } from '../frame/fields.ts'
import { AuditEntryRef } from '../frame/refs.ts'

const isChained = (entry: AuditEntry): entry is ChainedEntry => entry.seq !== null && entry.hash !== null

type ChainedEntry = AuditEntry & { seq: bigint; hash: string }

const requireChained = (entry: AuditEntry): ChainedEntry => {
  if (isChained(entry)) return entry
  throw new Error('The audit entry has no number or hash')
}

builder.node(AuditEntryRef, {
  description: 'A record of one action: who did what, to which object, from where.',
  id: { resolve: (entry) => entry.id, description: 'Global id, for `node`: audit_…' },
  loadMany: (ids, { load, viewer }) =>
    Promise.all(ids.map((id) => (viewer.granted.has('audit.read') ? load.auditEntry.load(id) : null))),
  fields: (t) => ({
    ...exposeColumns(t, {
      at: ['DateTime', 'Time of the operation, by the database clock.'],
      actorName: ['String', 'Name of the actor at that time.'],
      objectId: ['ID?', 'Id of the affected object.'],
      ip: ['String?', 'IP address of the request.'],
      token: ['String?', 'Prefix of the token used.'],
      requestId: [
        'String?',
        'Id of the request (`x-request-id`), which the log of the server has too; null: the system.',
      ],
      detail: [
        'JSONObject?',
        'The change, depending on the operation: the fields of the input, the `name` of a created or deleted object, `from` and `to` of a change, `words` of a decision, or `retryOf`.',
      ],
    }),
    seq: t.field({
      type: 'UInt53',
      description: 'Position in the log: 1, 2, 3 …',
      resolve: (entry) => requireChained(entry).seq,
    }),
    actor: objectFieldOrNull(t, 'actorId', 'The user who acted; null: the system.', 'user'),
    operation: t.exposeString('action', { description: 'What the actor did, e.g. job.submit.' }),
    hash: t.string({
      description: 'SHA-256 over all fields, `seq` and the previous hash, in hexadecimal.',
      resolve: (entry) => requireChained(entry).hash,
    }),
  }),
})

const AuditConnection = declareConnection<AuditEntry>('Audit', AuditEntryRef)

const AuditFilter = builder.inputType('AuditFilter', {
  description: 'Filter for audit entries. All fields must match.',
  fields: (t) => ({
    actors: t.idList(capList(limits.filterIdsMax, 'Entries of one of these users')),
    operations: t.stringList(
      capList(limits.filterIdsMax, 'Entries with one of these operations; job.* matches all operations of jobs'),
    ),
    objectIds: t.idList(capList(limits.filterIdsMax, 'Entries about one of these objects')),
    since: t.field({ type: 'DateTime', description: 'Entries of this time or later.' }),
    until: t.field({ type: 'DateTime', description: 'Entries earlier than this time.' }),
  }),
})

type Filter = typeof AuditFilter.$inferInput

/** Builds the condition. An entry is hidden until it gets its number, within 100 ms of the change. */
function filterSql({ actors, operations, objectIds, since, until }: Filter, bind: Bind): string {
  const conditions = [
    actors == null ? '' : `a.actor_id = ANY(${bind(actors)}::text[])`,
    operations == null ? '' : `a.action LIKE ANY(${bind(operations.map(toPattern))}::text[])`,
    objectIds == null ? '' : `a.object_id = ANY(${bind(objectIds)}::text[])`,
    since == null ? '' : `a.at >= ${bind(since)}::timestamptz`,
    until == null ? '' : `a.at < ${bind(until)}::timestamptz`,
  ]
  return ['a.seq IS NOT NULL', ...conditions.filter(Boolean)].join(' AND ')
}

/** Converts an operation to a LIKE pattern: `job.*` matches all operations of jobs. */
const toPattern = (operation: string) => operation.replace(/[\\%_]/g, '\\$&').replace(/\*$/, '%')

builder.queryField('auditLog', (t) =>
  t.field({
    type: AuditConnection,
    description: 'The audit log, newest entries first.',
    args: { ...t.arg.connectionArgs(), filter: t.arg({ type: AuditFilter, description: 'Filter; default: all.' }) },
    complexity: pageCost,
    async resolve(_root, { filter, ...args }, { listSql, viewer, load }) {
      demandToRead(viewer, 'audit.read')
      const where = (bind: Bind) => filterSql(filter ?? {}, bind)
      const list = await readList(listSql, { listing: auditListing, where, filter, args })
      return toConnection(list, (ids) => load.auditEntry.loadMany(ids))
    },
  }),
)

const AuditVerification = builder.objectRef<Verification>('AuditVerification').implement({
  description: 'Result of verifying the audit log.',
  fields: (t) => ({
    ...exposeColumns(t, {
      ok: ['Boolean', 'Whether the log is intact.'],
      fromSeq: ['UInt53', 'First position checked.'],
      toSeq: ['UInt53', 'Last position checked.'],
      headSeq: ['UInt53', 'Position of the newest entry; 0: the log is empty.'],
      firstBadSeq: [
        'UInt53?',
        'First position where verification fails; null: no failure, or the failure has no position.',
      ],
      message: ['String?', 'Description of the failure.'],
    }),
  }),
})

builder.queryField('verifyAudit', (t) =>
  t.field({
    type: AuditVerification,
    description: 'Recomputes the hashes of the audit log and compares them with those recorded outside the database.',
    args: {
      fromSeq: t.arg({ type: 'UInt53', description: 'First position to check; default: 1.' }),
      toSeq: t.arg({ type: 'UInt53', description: 'Last position to check; default: the newest.' }),
    },
    complexity: checkCost,
    resolve: (_root, range, { domain, lists: { db }, viewer }) => verifyAudit({ ...domain, db }, viewer, range),
  }),
)
