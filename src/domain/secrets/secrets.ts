import { z } from 'zod'
import { readNow } from '../../platform/database-time.ts'
import type { Tx } from '../../platform/tx.ts'
import { demand, type Viewer } from '../access.ts'
import { audit } from '../audit/audit.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { secretName } from '../input.ts'
import { parseInput } from '../parse.ts'
import { getSecretKeys, seal } from '../secret-keys.ts'

/**
 * Secrets of users and teams. No operation returns a value: only runs get it (run-secrets.ts). No violation
 * quotes a value, and the audit log has the name alone.
 */

const secretsOfOwnerMax = 100
const valueBytesMax = 65_536
/** Each line of a value is a pattern that the log is searched for. */
const valueLinesMax = 128

const setting = z.strictObject({
  name: secretName,
  teamId: z.string().nullish(),
  value: z
    .string()
    .min(1, 'must not be empty')
    .refine((value) => Buffer.byteLength(value) <= valueBytesMax, 'must have at most 64 KiB')
    .refine((value) => value.split('\n').length <= valueLinesMax, `must have at most ${valueLinesMax} lines`),
})

const deletion = z.strictObject({ name: secretName, teamId: z.string().nullish() })

interface SecretTarget {
  name: string
  /** null: the viewer's own secret. */
  teamId?: string | null | undefined
}

interface Owner {
  userId: string | null
  teamId: string | null
}

/** The context that binds an encrypted value to its row. */
export const makeSecretContext = ({ userId, teamId, name }: Owner & { name: string }): string =>
  `secret ${userId ?? teamId} ${name}`

export async function setSecret(
  domain: Domain,
  viewer: Viewer,
  raw: SecretTarget & { value: string },
): Promise<{ id: string }> {
  demandSetter(viewer, raw.teamId)
  const { name, value, teamId = null } = parseInput(setting, raw)
  const owner: Owner = { userId: teamId === null ? viewer.userId : null, teamId }
  const sealed = seal(getSecretKeys(domain), makeSecretContext({ ...owner, name }), value)
  return domain.db.serializable(async (tx) => {
    if (teamId !== null) await demandTeam(tx, viewer, teamId)
    const known = await tx.prisma.secret.findFirst({ where: { ...owner, name }, select: { id: true } })
    const id = known?.id ?? newId('secret', domain.time.nowMs())
    const written = { ...sealed, data: Uint8Array.from(sealed.data), setById: viewer.userId }
    if (known) await tx.prisma.secret.update({ where: { id }, data: { ...written, updatedAt: await readNow(tx) } })
    else {
      await demandBelowMaximum(tx, owner)
      await tx.prisma.secret.create({ data: { id, ...owner, name, ...written } })
    }
    await audit(tx, viewer, [{ action: 'secret.set', objectId: id, detail: { name, teamId } }], domain.time.nowMs())
    return { id }
  })
}

/** Returns the id null if the secret does not exist. */
export async function deleteSecret(domain: Domain, viewer: Viewer, raw: SecretTarget): Promise<{ id: string | null }> {
  demandSetter(viewer, raw.teamId)
  const { name, teamId = null } = parseInput(deletion, raw)
  const owner: Owner = { userId: teamId === null ? viewer.userId : null, teamId }
  return domain.db.serializable(async (tx) => {
    if (teamId !== null) await demandTeam(tx, viewer, teamId)
    const known = await tx.prisma.secret.findFirst({ where: { ...owner, name }, select: { id: true } })
    if (!known) return { id: null }
    await tx.prisma.secret.delete({ where: { id: known.id } })
    const record = { action: 'secret.delete', objectId: known.id, detail: { name, teamId } }
    await audit(tx, viewer, [record], domain.time.nowMs())
    return known
  })
}

const demandSetter = (viewer: Viewer, teamId: SecretTarget['teamId']) =>
  demand(viewer, teamId == null ? 'secret.own' : 'secret.team')

/** A team of which the viewer is not a member is reported as not found, unless the viewer is an ADMIN. */
async function demandTeam({ prisma }: Tx, { userId, level }: Viewer, teamId: string): Promise<void> {
  const members = level === 'ADMIN' ? {} : { members: { some: { userId } } }
  const team = await prisma.team.findFirst({ where: { id: teamId, ...members }, select: { id: true } })
  if (!team) throw new NotFound(`You have no team ${teamId.slice(0, 64)}`)
}

async function demandBelowMaximum({ prisma }: Tx, owner: Owner): Promise<void> {
  if ((await prisma.secret.count({ where: owner })) < secretsOfOwnerMax) return
  const whose = owner.teamId === null ? 'You have' : 'The team has'
  throw InvalidInput.at('name', `${whose} ${secretsOfOwnerMax} secrets, the maximum; delete one first`)
}

/** SQL condition on the table alias: the viewer may see the name of the secret. ADMINs see those of all teams. */
export const secretsVisibleTo = (viewer: Viewer, alias: string, bind: (value: unknown) => string): string =>
  viewer.level === 'ADMIN'
    ? `(${alias}.user_id = ${bind(viewer.userId)} OR ${alias}.team_id IS NOT NULL)`
    : `(${alias}.user_id = ${bind(viewer.userId)} OR ${alias}.team_id IN
        (SELECT team_id FROM team_member WHERE user_id = ${bind(viewer.userId)}))`
