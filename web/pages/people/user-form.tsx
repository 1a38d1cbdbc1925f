import {
  ChangeUserDocument,
  MakeUserDocument,
  OneUserDocument,
  type Permission,
  TeamNamesDocument,
  type UserItemFragment,
  type UserLevel,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { createNodeReader } from '../../ground/node-reader.ts'
import { formatPermission, includesLevel, levels, listPermissions } from '../../ground/permissions.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { isSame, type Values } from '../../parts/changed-values.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { useObjectDraft } from '../../parts/draft.ts'
import { Field, Form, Pair, type Refusal, SelectField, TextField } from '../../parts/form.tsx'
import type { FormCallbacks } from '../../parts/object-panel.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './people.module.css'
import { PermissionFields } from './permission-fields.tsx'

export const readUser = createNodeReader(OneUserDocument, 'User')

interface Draft {
  name: string
  displayName: string
  email: string
  level: UserLevel
  teams: readonly string[]
  defaultTeam: string
  unixUser: string
  issuer: string
  subject: string
  allow: readonly Permission[]
  deny: readonly Permission[]
}

const toDraft = (user: UserItemFragment | null, issuer: string): Draft => ({
  name: user?.name ?? '',
  displayName: user?.displayName ?? '',
  email: user?.email ?? '',
  level: user?.level ?? 'RESEARCHER',
  teams: user?.teams.map(({ name }) => name) ?? [],
  defaultTeam: user?.defaultTeam?.name ?? '',
  unixUser: user?.unixUser ?? '',
  issuer: user?.identity?.issuer ?? issuer,
  subject: user?.identity?.subject ?? '',
  allow: user?.allow ?? [],
  deny: user?.deny ?? [],
})

const orNull = (text: string) => (text.trim() === '' ? null : text.trim())

/** Returns only the changed fields, so that a save keeps changes of other users to the other fields. */
function toInput(draft: Draft, before: Draft) {
  const { name: _, issuer, subject, ...rest } = draft
  const fields = {
    ...rest,
    displayName: orNull(draft.displayName),
    email: orNull(draft.email),
    teams: draft.teams.map((name) => ({ name })),
    defaultTeam: draft.defaultTeam === '' ? null : { name: draft.defaultTeam },
    unixUser: orNull(draft.unixUser),
  }
  const changed = Object.entries(fields).filter(
    ([key]) => !isSame(draft[key as keyof Draft], before[key as keyof Draft]),
  )
  const isOther = subject.trim() !== before.subject || (subject.trim() !== '' && issuer !== before.issuer)
  const identity = isOther && { identity: subject.trim() === '' ? null : { issuer, subject: subject.trim() } }
  return { ...Object.fromEntries(changed), ...identity } as Partial<Omit<typeof fields, 'allow' | 'deny'>> & {
    allow?: Permission[]
    deny?: Permission[]
  }
}

const toValues = ({ allow, deny, teams, ...texts }: Draft): Values => ({
  ...texts,
  teams: teams.join(', '),
  allow: allow.map(formatPermission).join(', '),
  deny: deny.map(formatPermission).join(', '),
})

interface UserFormProps extends FormCallbacks {
  /** The user to change; null: creates a user. */
  user?: UserItemFragment | null
}

/** Creates or changes a user. */
export function UserForm({ user = null, onCancel, onDone }: UserFormProps) {
  const issuer = useStart().server.oidcIssuer
  const form = useObjectDraft({ stored: user, toDraft: (stored) => toDraft(stored, issuer ?? '') })
  const { draft, before, set } = form
  const create = async (): Promise<Refusal | null> => {
    const input = { ...toInput(draft, before), name: draft.name.trim(), level: draft.level }
    const { createUser } = await client.request(MakeUserDocument, { input })
    if (isRefused(createUser)) return toRefusal(createUser)
    showToast(`Created ${createUser.user.name}`)
    onDone(createUser.user.id)
    return null
  }
  const change = async ({ id: userId, version }: UserItemFragment): Promise<Refusal | null> => {
    const input = { ...toInput(draft, before), userId, expectedVersion: version }
    const { updateUser } = await client.request(ChangeUserDocument, { input }, { attempts: 4 })
    if (updateUser.__typename === 'VersionConflictProblem') {
      const now = await readUser(userId)
      return now ? form.merge(userId, now, (stored) => toValues(toDraft(stored, draft.issuer))) : toRefusal(updateUser)
    }
    if (isRefused(updateUser)) return toRefusal(updateUser)
    showToast(`Saved ${updateUser.user.name}`)
    onDone(userId)
    return null
  }
  const fields = { draft, set }
  return (
    <Form
      takesFocus
      submitText={user ? 'Save' : 'Create user'}
      onCancel={onCancel}
      onSubmit={() => (form.base ? change(form.base) : create())}
    >
      <MainFields {...fields} isNew={user === null} />
      {user && <LevelEffect before={before} draft={draft} />}
      <TeamFields {...fields} />
      <details className={styles.details}>
        <summary>Permissions, Unix account{issuer && ', identity'}</summary>
        <PermissionFields grants={draft} onChange={set} />
        <AdminFields {...fields} isNew={user === null} />
      </details>
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
}

function MainFields({ draft, isNew, set }: FieldsProps & { isNew: boolean }) {
  const { viewer } = useStart()
  return (
    <>
      {isNew && (
        <TextField
          label="Log-in name"
          help="Cannot be changed later."
          path="name"
          value={draft.name}
          required
          autoComplete="off"
          spellCheck={false}
          onChange={(name) => set({ name })}
        />
      )}
      <Pair>
        <TextField
          label="Display name"
          path="displayName"
          value={draft.displayName}
          autoComplete="off"
          onChange={(displayName) => set({ displayName })}
        />
        <TextField
          label="Mail address"
          path="email"
          value={draft.email}
          autoComplete="off"
          onChange={(email) => set({ email })}
        />
      </Pair>
      <Field label="Level" path="level">
        <select value={draft.level} onChange={({ target }) => set({ level: target.value as UserLevel })}>
          {levels.map((level) => (
            <option key={level} value={level} disabled={!includesLevel(viewer.user.level, level)}>
              {level.toLowerCase()}
            </option>
          ))}
        </select>
      </Field>
    </>
  )
}

/** Fields for administrators only: the machine account of the jobs, and the OpenID identity. */
function AdminFields({ draft, isNew, set }: FieldsProps & { isNew: boolean }) {
  const { server, viewer } = useStart()
  if (viewer.user.level !== 'ADMIN') return null
  return (
    <>
      <TextField
        label="Unix account"
        help="Jobs run as this account. Empty: as the account of the server."
        path="unixUser"
        value={draft.unixUser}
        spellCheck={false}
        onChange={(unixUser) => set({ unixUser })}
      />
      {!isNew && server.oidcIssuer && (
        <TextField
          label="Subject at the OpenID provider"
          help={`Issuer ${draft.issuer}. Empty: no log-in there.`}
          path="identity"
          value={draft.subject}
          spellCheck={false}
          onChange={(subject) => set({ subject })}
        />
      )}
    </>
  )
}

/** Teams, for administrators only: members may charge the account of the team. */
function TeamFields({ draft, set }: FieldsProps) {
  const { viewer } = useStart()
  const { value } = useQuery(TeamNamesDocument, {})
  const names = [...new Set([...(value?.teams.nodes.map(({ name }) => name) ?? []), ...draft.teams])]
  const isAdmin = viewer.user.level === 'ADMIN'
  if (names.length === 0) return null
  return (
    <>
      <CheckList
        label="Teams"
        help={isAdmin ? null : 'Only an administrator adds members.'}
        path="teams"
        options={names.map((name) => ({
          value: name,
          text: name,
          isDisabled: !isAdmin && !draft.teams.includes(name),
        }))}
        chosen={draft.teams}
        onChange={(teams) => set({ teams, ...(!teams.includes(draft.defaultTeam) && { defaultTeam: '' }) })}
      />
      {draft.teams.length > 0 && (
        <SelectField
          label="Default team"
          help="Jobs that name no team are charged to it."
          path="defaultTeam"
          value={draft.defaultTeam}
          options={[['', 'none'], ...draft.teams.map((name) => [name, name] as const)]}
          onChange={(defaultTeam) => set({ defaultTeam })}
        />
      )}
    </>
  )
}

/** Shows which permissions a save adds and removes. */
function LevelEffect({ before, draft }: { before: Draft; draft: Draft }) {
  const [old, next] = [listPermissions(before), listPermissions(draft)]
  const gained = next.filter((each) => !old.includes(each)).map(formatPermission)
  const lost = old.filter((each) => !next.includes(each)).map(formatPermission)
  if (gained.length === 0 && lost.length === 0) return null
  return (
    <p className={styles.effect} role="status">
      {gained.length > 0 && `This level also allows: ${gained.join(', ')}. `}
      {lost.length > 0 && `May no longer: ${lost.join(', ')}. `}
      Waiting jobs keep their priority.
    </p>
  )
}
