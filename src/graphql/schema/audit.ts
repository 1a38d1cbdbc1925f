import { demandToRead } from '../../domain/access.ts'
import { type Verification, verifyAudit } from '../../domain/audit/audit-verify.ts'
import type { AuditEntry } from '../../platform/generated/client.ts'
import { builder } from '../builder.ts'
import { toConnection } from '../connection.ts'
import { connectionType } from '../connection-type.ts'
import { type Bind, readPages, requestPage } from '../keyset.ts'
import { auditListing } from '../listings.ts'
import { pageCost } from '../page.ts'
import { AuditEntryRef, UserRef } from '../refs.ts'

/** Who did what to which object from where, and the proof that nobody changed it since. */
const isChained = (entry: AuditEntry): entry is ChainedEntry => entry.seq !== null && entry.hash !== null

type ChainedEntry = AuditEntry & { seq: bigint; hash: string }

const chained = (entry: AuditEntry): ChainedEntry => {
  if (isChained(entry)) return entry
  throw new Error('An entry without a place was shown')
}

builder.node(AuditEntryRef, {
  description: 'Who did what to which object from where.',
  id: { resolve: (entry) => entry.id, description: 'audit_…' },
  loadMany: (ids, { load, viewer }) =>
    Promise.all(ids.map((id) => (viewer.granted.has('audit.read') ? load.auditEntry.load(id) : null))),
  fields: (t) => ({
    seq: t.field({ type: 'UInt53', description: 'Its place, 1, 2, 3 …', resolve: (entry) => chained(entry).seq }),
    at: t.expose('at', { type: 'DateTime', description: 'When, by the clock of the database.' }),
    actor: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who; null: the system.',
      resolve: ({ actorId }, _args, { load }) => (actorId === null ? null : load.user.load(actorId)),
    }),
    actorName: t.exposeString('actorName', { description: 'Their name at that time.' }),
    action: t.exposeString('action', { description: 'What, e.g. job.submit.' }),
    objectId: t.exposeID('objectId', { nullable: true, description: 'To which object.' }),
    ip: t.exposeString('ip', { nullable: true, description: 'From which address.' }),
    token: t.exposeString('token', { nullable: true, description: 'Prefix of the token that was used.' }),
    detail: t.expose('detail', { type: 'JSONObject', nullable: true, description: 'Further facts.' }),
    hash: t.string({
      description: 'SHA-256 over every field, the place and the hash before it, in hex.',
      resolve: (entry) => chained(entry).hash,
    }),
  }),
})

const AuditConnection = connectionType<AuditEntry>('Audit', AuditEntryRef)

const AuditFilter = builder.inputType('AuditFilter', {
  description: 'Which entries. Fields are joined by AND.',
  fields: (t) => ({
    actor: t.id({ description: 'Of this user.' }),
    action: t.string({ description: 'Of this action.' }),
    objectId: t.id({ description: 'About this object.' }),
    after: t.field({ type: 'DateTime', description: 'Later than this moment.' }),
    before: t.field({ type: 'DateTime', description: 'Earlier than this moment.' }),
  }),
})

type Filter = typeof AuditFilter.$inferInput

/** Entries have a place less than 100 ms after the change; until then they are not shown. */
function filterSql({ actor, action, objectId, after, before }: Filter, bind: Bind): string {
  const conditions = [
    actor == null ? '' : `a.actor_id = ${bind(actor)}`,
    action == null ? '' : `a.action = ${bind(action)}`,
    objectId == null ? '' : `a.object_id = ${bind(objectId)}`,
    after == null ? '' : `a.at > ${bind(after)}::timestamptz`,
    before == null ? '' : `a.at < ${bind(before)}::timestamptz`,
  ]
  return ['a.seq IS NOT NULL', ...conditions.filter(Boolean)].join(' AND ')
}

builder.queryField('auditLog', (t) =>
  t.field({
    type: AuditConnection,
    description: 'The audit log, newest first.',
    args: { ...t.arg.connectionArgs(), filter: t.arg({ type: AuditFilter, description: 'Which; default: all.' }) },
    complexity: pageCost,
    async resolve(_root, { filter, ...args }, { domain: { db }, viewer, load }) {
      demandToRead(viewer, 'audit.read')
      const listing = auditListing
      const where = (bind: Bind) => filterSql(filter ?? {}, bind)
      const page = requestPage(listing, filter, args)
      const pages = await readPages(db.sql, { listing, where, parents: [''], filterOf: () => filter, page })
      return toConnection(pages.get(''), (ids) => load.auditEntry.loadMany(ids))
    },
  }),
)

const AuditVerification = builder.objectRef<Verification>('AuditVerification').implement({
  description: 'Whether the audit log is what was written.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Nothing was found.' }),
    fromSeq: t.expose('fromSeq', { type: 'UInt53', description: 'First place that was looked at.' }),
    toSeq: t.expose('toSeq', { type: 'UInt53', description: 'Last place that was looked at.' }),
    headSeq: t.expose('headSeq', { type: 'UInt53', description: 'Place of the newest entry; 0: there is none.' }),
    firstBadSeq: t.expose('firstBadSeq', {
      type: 'UInt53',
      nullable: true,
      description: 'The first place where something is wrong; null: nowhere, or it has no place.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'What is wrong.' }),
  }),
})

/** Every hash of the range is computed again. */
const verifyCost = 1_000

builder.queryField('verifyAudit', (t) =>
  t.field({
    type: AuditVerification,
    description: 'Computes the audit log again, and compares it with what was told outside the database.',
    args: {
      fromSeq: t.arg({ type: 'UInt53', description: 'First place; default: 1.' }),
      toSeq: t.arg({ type: 'UInt53', description: 'Last place; default: the newest.' }),
    },
    complexity: verifyCost,
    resolve: (_root, range, { domain, viewer }) => verifyAudit(domain, viewer, range),
  }),
)
