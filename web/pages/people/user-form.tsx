import { useState } from 'react'
import {
  ChangeUserDocument,
  MakeUserDocument,
  type Permission,
  TeamNamesDocument,
  type UserItemFragment,
  type UserLevel,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { formatPermission, includesLevel, levels, listPermissions } from '../../ground/permissions.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { isSame, mergeDraft, type Values } from '../../parts/changed-values.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { describeConflict } from '../../parts/conflict.ts'
import { Field, Form, type Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './people.module.css'
import { PermissionFields } from './permission-fields.tsx'
import { readUser } from './read-people.ts'

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

/** Only the fields that differ, so that a save leaves the changes of others as they are. */
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

interface UserFormProps {
  /** null: a new one. */
  user?: UserItemFragment | null
  onCancel: () => void
  onDone: (id: string) => void
}

/** Creates or changes a user. */
export function UserForm({ user = null, onCancel, onDone }: UserFormProps) {
  const { server } = useStart()
  const [base, setBase] = useState({ version: user?.version, draft: toDraft(user, server.oidcIssuer ?? '') })
  const [draft, setDraft] = useState(base.draft)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const create = async (): Promise<Refusal | null> => {
    const input = { ...toInput(draft, base.draft), name: draft.name.trim(), level: draft.level }
    const { createUser } = await client.request(MakeUserDocument, { input })
    if (isRefused(createUser)) return toRefusal(createUser)
    showToast(`Created ${createUser.user.name}`)
    onDone(createUser.user.id)
    return null
  }
  const change = async (userId: string): Promise<Refusal | null> => {
    const input = { ...toInput(draft, base.draft), userId, ...(base.version && { expectedVersion: base.version }) }
    const { updateUser } = await client.request(ChangeUserDocument, { input }, { attempts: 4 })
    if (updateUser.__typename === 'VersionConflictProblem') {
      const now = await readUser(userId)
      if (!now) return toRefusal(updateUser)
      const next = toDraft(now, draft.issuer)
      setBase({ version: now.version, draft: next })
      setDraft(mergeDraft(draft, base.draft, next))
      return describeConflict({ objectId: userId, before: toValues(base.draft), now: toValues(next) })
    }
    if (isRefused(updateUser)) return toRefusal(updateUser)
    showToast(`Saved ${updateUser.user.name}`)
    onDone(userId)
    return null
  }
  return (
    <Form
      takesFocus
      submitText={user ? 'Save' : 'Create user'}
      onCancel={onCancel}
      onSubmit={() => (user ? change(user.id) : create())}
    >
      {(refusal) => (
        <>
          <MainFields draft={draft} isNew={user === null} refusal={refusal} set={set} />
          {user && <LevelEffect before={base.draft} draft={draft} />}
          <TeamFields draft={draft} refusal={refusal} set={set} />
          <details className={styles.details}>
            <summary>Permissions, Unix account{server.oidcIssuer && ', identity'}</summary>
            <PermissionFields grants={draft} refusal={refusal} onChange={set} />
            <AdminFields draft={draft} isNew={user === null} refusal={refusal} set={set} />
          </details>
        </>
      )}
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  refusal: Refusal | null
  set: (change: Partial<Draft>) => void
}

function MainFields({ draft, isNew, refusal, set }: FieldsProps & { isNew: boolean }) {
  const { viewer } = useStart()
  return (
    <>
      {isNew && (
        <Field label="Log-in name" help="Cannot be changed later." path="name" refusal={refusal}>
          <input
            value={draft.name}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => set({ name: target.value })}
          />
        </Field>
      )}
      <div className={styles.pair}>
        <Field label="Display name" path="displayName" refusal={refusal}>
          <input
            value={draft.displayName}
            autoComplete="off"
            onChange={({ target }) => set({ displayName: target.value })}
          />
        </Field>
        <Field label="Mail address" path="email" refusal={refusal}>
          <input value={draft.email} autoComplete="off" onChange={({ target }) => set({ email: target.value })} />
        </Field>
      </div>
      <Field label="Level" path="level" refusal={refusal}>
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

/** Only an administrator decides as whom the jobs run, and who logs in as the user. */
function AdminFields({ draft, isNew, refusal, set }: FieldsProps & { isNew: boolean }) {
  const { server, viewer } = useStart()
  if (viewer.user.level !== 'ADMIN') return null
  return (
    <>
      <Field
        label="Unix account"
        help="Jobs run as this account. Empty: as the account of the server."
        path="unixUser"
        refusal={refusal}
      >
        <input value={draft.unixUser} spellCheck={false} onChange={({ target }) => set({ unixUser: target.value })} />
      </Field>
      {!isNew && server.oidcIssuer && (
        <Field
          label="Subject at the OpenID provider"
          help={`Issuer ${draft.issuer}. Empty: no log-in there.`}
          path="identity"
          refusal={refusal}
        >
          <input value={draft.subject} spellCheck={false} onChange={({ target }) => set({ subject: target.value })} />
        </Field>
      )}
    </>
  )
}

/** Only an administrator adds members: they may charge the account of the team. */
function TeamFields({ draft, refusal, set }: FieldsProps) {
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
        refusal={refusal}
        options={names.map((name) => ({
          value: name,
          text: name,
          isDisabled: !isAdmin && !draft.teams.includes(name),
        }))}
        chosen={draft.teams}
        onChange={(teams) => set({ teams, ...(!teams.includes(draft.defaultTeam) && { defaultTeam: '' }) })}
      />
      {draft.teams.length > 0 && (
        <Field
          label="Default team"
          help="Jobs that name no team are charged to it."
          path="defaultTeam"
          refusal={refusal}
        >
          <select value={draft.defaultTeam} onChange={({ target }) => set({ defaultTeam: target.value })}>
            <option value="">none</option>
            {draft.teams.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
      )}
    </>
  )
}

/** The permissions that a save gives and takes. */
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
