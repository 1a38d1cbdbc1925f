import { z } from 'zod'
import type { SavedView } from '../../platform/generated/client.ts'
import type { Sql, Tx } from '../../platform/tx.ts'
import { demand, demandAdmin, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { parseInput } from '../parse.ts'
import { demandUnchanged, type Target, versionInput } from '../versions.ts'

export const viewsOfUserMax = 100
export const viewsListedMax = 500

const viewInput = z.strictObject({
  id: z.string().nullish(),
  name: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(100, 'must have at most 100 characters')
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must have no line endings and no invisible characters'),
  page: z
    .string()
    .max(200, 'must have at most 200 characters')
    .regex(/^\/([\w-][\w.-]*(\/[\w-][\w.-]*)*)?$/, 'must be the path of a page, such as /jobs'),
  search: z.string().max(2_048, 'must have at most 2,048 characters'),
  visibility: z.enum(['USER', 'TEAM', 'ALL']),
  teamId: z.string().nullish(),
  pinned: z.boolean(),
  expectedVersion: versionInput,
})

/** Creates a view, or replaces the one with this id. */
export async function saveView(domain: Domain, viewer: Viewer, raw: unknown): Promise<{ id: string }> {
  demand(viewer, 'view.write')
  const { id, teamId = null, visibility: scope, expectedVersion, ...named } = parseInput(viewInput, raw)
  const view = { ...named, scope }
  if (scope === 'ALL') demandAdmin(viewer)
  if ((scope === 'TEAM') !== (teamId !== null))
    throw InvalidInput.at('teamId', 'Give a team with the visibility TEAM, and only there')
  return domain.db.serializable(async (tx) => {
    if (teamId !== null) await demandMember(tx, viewer, teamId)
    if (id == null)
      return createView(tx, { ...view, teamId, id: newId('view', domain.time.nowMs()), ownerId: viewer.userId })
    await demandEditable(tx, viewer, { id, expectedVersion })
    await tx.prisma.savedView.update({ where: { id }, data: { ...view, teamId } })
    return { id }
  })
}

async function createView({ prisma }: Tx, data: Omit<SavedView, 'createdAt' | 'version'>): Promise<{ id: string }> {
  const count = await prisma.savedView.count({ where: { ownerId: data.ownerId } })
  if (count >= viewsOfUserMax)
    throw InvalidInput.at('name', `You have ${viewsOfUserMax} saved views, the maximum; delete one first`)
  await prisma.savedView.create({ data })
  return { id: data.id }
}

export async function deleteView(domain: Domain, viewer: Viewer, deletion: Target): Promise<{ id: string }> {
  const { id } = deletion
  demand(viewer, 'view.write')
  return domain.db.serializable(async (tx) => {
    await demandEditable(tx, viewer, deletion)
    await tx.prisma.savedView.delete({ where: { id } })
    return { id }
  })
}

async function demandMember({ prisma }: Tx, { userId }: Viewer, teamId: string): Promise<void> {
  const member = await prisma.teamMember.findUnique({ where: { teamId_userId: { teamId, userId } } })
  if (!member) throw InvalidInput.at('teamId', 'You are not a member of this team')
}

async function demandEditable({ prisma }: Tx, viewer: Viewer, { id, expectedVersion }: Target): Promise<void> {
  const view = await prisma.savedView.findUnique({ where: { id } })
  if (!view || !mayEditView(viewer, view)) throw new NotFound(`You have no saved view ${id.slice(0, 64)}`)
  demandUnchanged('saved view', view, expectedVersion)
}

/** A user may edit the views that the user saved; an ADMIN may also edit views that other users see. */
export const mayEditView = (viewer: Viewer, { ownerId, scope }: SavedView): boolean =>
  ownerId === viewer.userId || (viewer.level === 'ADMIN' && scope !== 'USER')

export async function listViewIds(sql: Sql, { userId }: Viewer, page: string | null): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT v.id FROM saved_view v
     WHERE (v.owner_id = $1 OR v.scope = 'ALL' OR v.team_id IN (SELECT m.team_id FROM team_member m WHERE m.user_id = $1))
       AND ($2::text IS NULL OR v.page = $2)
     ORDER BY v.pinned DESC, lower(v.name), v.id LIMIT ${viewsListedMax}`,
    [userId, page],
    'saved_views',
  )
  return rows.map(({ id }) => id)
}
