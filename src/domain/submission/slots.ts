import { z } from 'zod'
import { readNow } from '../../platform/database-time.ts'
import type { Sql } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { toUserAccount } from '../accounts.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { NotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { findPool, readLimits } from '../limits/limits.ts'
import {
  type ApplicableQuota,
  judgeQuotas,
  listApplicableQuotas,
  makeUserSubject,
  type Payer,
} from '../limits/quota-rules.ts'
import { noUsage, readUsage } from '../limits/quota-usage.ts'
import { readQuotasFor, refuseIfUnreadable } from '../limits/stored-quotas.ts'
import { parseInput } from '../parse.ts'
import { withSubmissionsLocked } from '../submission-lock.ts'
import type { Submission } from './submission.ts'

/**
 * Slot reservations guarantee a client that must upload data first that its submission will not exceed CONCURRENT_JOBS.
 * An active slot counts like an alive job. Its state is computed from times, so it expires without a background task.
 */

export const slotStates = ['ACTIVE', 'CONSUMED', 'EXPIRED', 'RELEASED'] as const
type SlotState = (typeof slotStates)[number]

export const slotStateSql = (alias: string) =>
  `(CASE WHEN ${alias}.consumed_at IS NOT NULL THEN 'CONSUMED' WHEN ${alias}.released_at IS NOT NULL THEN 'RELEASED'
    WHEN ${alias}.expires_at <= berth_now() THEN 'EXPIRED' ELSE 'ACTIVE' END)`

const reserveInput = z.strictObject({
  ttlSeconds: z.int().min(1, 'must be 1 … 3,600').max(3_600, 'must be 1 … 3,600').nullish(),
})

const ttlSecondsDefault = 300

/** Reserves a slot in the pool of the default queue. Returns its id. */
export async function reserveSlot(domain: Domain, viewer: Viewer, raw: unknown): Promise<string> {
  demand(viewer, 'job.submit')
  const { ttlSeconds } = parseInput(reserveInput, raw)
  return withSubmissionsLocked(domain, async (tx) => {
    await demandSlot(domain, tx, viewer)
    const id = newId('slot', domain.time.nowMs())
    const createdAt = await readNow(tx)
    const expiresAt = new Date(createdAt.getTime() + (ttlSeconds ?? ttlSecondsDefault) * 1_000)
    await tx.prisma.slotReservation.create({ data: { id, userId: viewer.userId, createdAt, expiresAt } })
    await audit(tx, viewer, [{ action: 'slot.reserve', objectId: id }], domain.time.nowMs())
    return id
  })
}

/** Throws QuotaExceeded. */
async function demandSlot(domain: Domain, sql: Sql, viewer: Viewer): Promise<void> {
  const { userId, userName, level } = viewer
  const payer: Payer = { userId, userName, level, team: null, account: toUserAccount(userName) }
  const subject = makeUserSubject(payer)
  await refuseIfUnreadable(domain, async () => {
    const pool = await findPool(sql, null)
    const maxActive = (await readLimits(sql, [pool], domain.singleUser)).get(pool)?.userMaxActive ?? null
    const quotas = listApplicableQuotas(await readQuotasFor(sql, [payer]), payer, maxActive)
    const mine = quotas.filter((quota) => isCheckedAtReservation(quota, true))
    if (mine.length === 0) return
    const usage = await readUsage(sql, [{ subject, hours: 0 }])
    const { amounts } = usage.get(`user/${userId}`) ?? noUsage
    judgeQuotas(mine, () => amounts, { ...noUsage.amounts, CONCURRENT_JOBS: 1 })
  })
}

/**
 * true: the quota was checked when the slot was reserved. Exception: `userMaxActive` if the submission goes to
 * another pool than the default one.
 */
export const isCheckedAtReservation = (
  { type, action, ceiling, label }: ApplicableQuota,
  isDefaultPool: boolean,
): boolean => type === 'CONCURRENT_JOBS' && action === 'BLOCK' && !ceiling && (label !== 'MAX_ACTIVE' || isDefaultPool)

/** `released`: the slot was active until this call. */
export async function releaseSlot(
  domain: Domain,
  viewer: Viewer,
  id: string,
): Promise<{ id: string; released: boolean }> {
  demand(viewer, 'job.submit')
  return withSubmissionsLocked(domain, async (tx) => {
    const [slot] = await readSlots(tx, [id])
    if (slot?.userId !== viewer.userId) throw new NotFound(`Slot reservation ${id.slice(0, 64)} not found`)
    if (slot.state !== 'ACTIVE') return { id, released: false }
    await tx.prisma.slotReservation.update({ where: { id }, data: { releasedAt: await readNow(tx) } })
    await audit(tx, viewer, [{ action: 'slot.release', objectId: id }], domain.time.nowMs())
    return { id, released: true }
  })
}

/** Reads the open slots among these submissions, as `<user>/<id>`. */
export async function readOpenSlots(sql: Sql, items: readonly Submission[]): Promise<Set<string>> {
  const ids = items.flatMap(({ input }) => input.slotReservationId ?? [])
  if (ids.length === 0) return new Set()
  const rows = await sql.query<{ name: string }>(
    `SELECT user_id || '/' || id AS name FROM slot_reservation s
     WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb)) AND ${slotStateSql('s')} = 'ACTIVE'`,
    [JSON.stringify(ids)],
  )
  return new Set(rows.map(({ name }) => name))
}

export interface Slot {
  id: string
  userId: string
  state: SlotState
  createdAt: Date
  expiresAt: Date
  jobId: string | null
}

export const readSlots = (sql: Sql, ids: readonly string[]): Promise<Slot[]> =>
  sql.query<Slot>(
    `SELECT s.id, s.user_id AS "userId", ${slotStateSql('s')} AS state, s.created_at AS "createdAt",
       s.expires_at AS "expiresAt", s.job_id AS "jobId"
     FROM slot_reservation s WHERE s.id = ANY($1::text[])`,
    [ids],
  )

export const maySeeSlot = (viewer: Viewer, { userId }: Slot): boolean =>
  userId === viewer.userId || viewer.permissions.has('job.view.all')

export const slotsVisibleTo = (viewer: Viewer, alias: string, bind: (value: unknown) => string): string =>
  viewer.permissions.has('job.view.all') ? 'TRUE' : `${alias}.user_id = ${bind(viewer.userId)}`

export async function countActiveSlots({ db }: Domain, { userId, userName }: Viewer): Promise<number> {
  const usage = await readUsage(db.sql, [{ subject: makeUserSubject({ userId, userName }), hours: 0 }])
  return (usage.get(`user/${userId}`) ?? noUsage).amounts.CONCURRENT_JOBS
}
