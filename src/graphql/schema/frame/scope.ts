import { seesPeople } from '../../../domain/access.ts'
import { NotFound } from '../../../domain/errors.ts'
import type { Loaders } from '../../rows/loaders.ts'
import { builder } from './builder.ts'
import { describeValues } from './enum-values.ts'
import { UserLevel } from './enums.ts'
import { type NameOrId, NameOrIdInput } from './name-or-id.ts'
import { TeamRef, UserRef } from './refs.ts'

/** Whose jobs a quota or a limit counts. */
export interface ScopeShape {
  kind: keyof typeof kinds
  /** Name of the user, team …; null: the kind is GLOBAL. */
  name: string | null
}

const kinds = {
  GLOBAL: 'Each user.',
  LEVEL: 'Each user of a level.',
  USER: 'A user.',
  TEAM: 'All members of a team together.',
  ACCOUNT: 'An account and the accounts below it together.',
  PROJECT: 'The jobs of a project.',
  QUEUE: 'The jobs of a submission queue.',
  POOL: 'The jobs of a pool.',
}

/** Parses a scope in the format of the domain, such as user:ann. */
export function parseScope(text: string): ScopeShape {
  const colon = text.indexOf(':')
  return { kind: text.slice(0, colon).toUpperCase() as ScopeShape['kind'], name: text.slice(colon + 1) }
}

export const ScopeKind = builder.enumType('ScopeKind', {
  description: 'Kind of a scope.',
  values: describeValues(kinds),
})

export const Scope = builder.objectRef<ScopeShape>('Scope').implement({
  description: 'Whose jobs a quota or a limit counts.',
  fields: (t) => ({
    kind: t.expose('kind', {
      type: ScopeKind,
      description: 'What `name` names.',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'Name of the user, team, account, project, queue or pool, or the level; null: GLOBAL.',
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null: another kind of scope, or you may not see the user.',
      resolve: ({ kind, name }, _args, { load, viewer }) =>
        kind === 'USER' && name !== null && (name === viewer.userName || seesPeople(viewer))
          ? load.userByName.load(name)
          : null,
    }),
    team: t.field({
      type: TeamRef,
      nullable: true,
      description: 'The team; null: another kind of scope, or you may not see the team.',
      async resolve({ kind, name }, _args, { load, viewer }) {
        if (kind !== 'TEAM' || name === null) return null
        const mine = (await load.teamsOfUser.load(viewer.userId)).map(({ team }) => team.name)
        return seesPeople(viewer) || mine.includes(name) ? load.teamByName.load(name) : null
      },
    }),
  }),
})

export const ScopeInput = builder.inputType('ScopeInput', {
  description:
    'Whose jobs a quota or a limit counts. A quota can be of a level, user, team or account, a limit of a user, team, project or queue.',
  isOneOf: true,
  fields: (t) => ({
    level: t.field({ type: UserLevel, description: 'Each user of this level.' }),
    user: t.field({ type: NameOrIdInput, description: 'The jobs of one user.' }),
    team: t.field({ type: NameOrIdInput, description: 'All members of a team together.' }),
    account: t.string({ description: 'An account and the accounts below it together.' }),
    project: t.string({ description: 'The jobs of a project.' }),
    queue: t.string({ description: 'The jobs of a submission queue, by its name.' }),
  }),
})

/** Converts the input of a scope to the kind and name that the domain stores. */
export async function readScope(input: typeof ScopeInput.$inferInput, load: Loaders) {
  const { user, team, ...named } = input
  if (user) return { scope: 'USER' as const, name: await readName('user', user, load) }
  if (team) return { scope: 'TEAM' as const, name: await readName('team', team, load) }
  const [[kind = '', name] = []] = Object.entries(named).filter(([, value]) => value != null)
  return { scope: kind.toUpperCase() as ScopeShape['kind'], name: String(name) }
}

async function readName(noun: 'user' | 'team', { id, name }: NameOrId, load: Loaders): Promise<string> {
  if (id == null) return name ?? ''
  const found = await load[noun].load(id)
  if (!found) throw new NotFound(`The ${noun} ${id.slice(0, 64)} does not exist`)
  return found.name
}
