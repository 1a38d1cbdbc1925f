import type { Sql } from '../../platform/tx.ts'
import type { Viewer } from '../access.ts'
import { newId } from '../ids.ts'

/**
 * The audit log. An entry is written unchained in the transaction of the change it describes, so no change waits for a
 * global lock; audit-chain.ts numbers it a moment later.
 */

export interface AuditRecord {
  action: string
  objectId: string | null
  detail?: Record<string, unknown>
}

/** `viewer` null: the system itself. */
export const audit = (sql: Sql, viewer: Viewer | null, records: readonly AuditRecord[], nowMs: number): Promise<void> =>
  auditAll(
    sql,
    records.map((record) => ({ ...record, viewer })),
    nowMs,
  )

export async function auditAll(
  sql: Sql,
  records: readonly (AuditRecord & { viewer: Viewer | null })[],
  nowMs: number,
): Promise<void> {
  if (records.length === 0) return
  const rows = records.map(({ viewer, action, objectId, detail }) => ({
    id: newId('audit', nowMs),
    actor: viewer?.userId ?? null,
    name: viewer?.userName ?? 'system',
    action,
    object: objectId,
    ip: viewer?.ip ?? null,
    request: viewer?.requestId ?? null,
    token: viewer?.token ?? null,
    detail: detail ?? null,
  }))
  await sql.query(auditSql, [JSON.stringify(rows)], 'audit')
}

const auditSql = `
INSERT INTO audit_entry (id, at, actor_id, actor_name, action, object_id, ip, token, request_id, detail)
SELECT r.id, berth_now(), r.actor, r.name, r.action, r.object, r.ip, r.token, r.request, r.detail
FROM jsonb_to_recordset($1::text::jsonb)
  AS r(id text, actor text, name text, action text, object text, ip text, token text, request text, detail jsonb)`
