import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { countJobs, noJobs } from '../../features/jobs/rows/count-jobs.ts'
import {
  ChangeUserDocument,
  DisableUserDocument,
  ListTokensDocument,
  type UserItemFragment,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { formatPermission } from '../../ground/permissions.ts'
import { useResource } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { Facts } from '../../parts/facts.tsx'
import { plural, quoteShell } from '../../parts/format.ts'
import { ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './people.module.css'
import { readUser, UserForm } from './user-form.tsx'

const everyMs = 10_000

export function UserPanel({ id, ...ends }: PanelCallbacks & { id: string }) {
  const may = useMay()
  const user = useResource(`user ${id}`, (signal) => readUser(id, signal), { everyMs })
  return (
    <ObjectPanel
      of={user}
      title={({ name }) => name}
      noun="User"
      gone={<Empty title="This user does not exist">Or you may not see this user.</Empty>}
      form={may('USER_WRITE') && ((value, formEnds) => <UserForm user={value} {...formEnds} />)}
      {...ends}
    >
      {(value, { changed }) => (
        <>
          <UserFacts user={value} />
          {may('USER_WRITE') && <UserButtons user={value} onChange={changed} />}
        </>
      )}
    </ObjectPanel>
  )
}

function UserFacts({ user }: { user: UserItemFragment }) {
  const { viewer } = useStart()
  const may = useMay()
  const { allow, deny, permissions, identity } = user
  const isSelf = user.id === viewer.user.id
  return (
    <Facts
      facts={[
        ['Name', user.displayName],
        ['Mail address', user.email],
        ['Level', user.level.toLowerCase()],
        ['Status', user.disabled ? <span className={styles.off}>disabled</span> : 'enabled'],
        [
          'Teams',
          user.teams.map(({ id, name }, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <Link to="/people/$part" params={{ part: 'teams' }} search={{ open: id }}>
                {name}
              </Link>
              {name === user.defaultTeam?.name && ' (default)'}
            </span>
          )),
        ],
        [
          'Jobs',
          <Link key="jobs" to="/jobs" search={{ user: user.name }}>
            All jobs of {user.name}
          </Link>,
        ],
        [
          'Tokens',
          (may('TOKEN_ANY') || isSelf) && (
            <Link key="tokens" to="/people/$part" params={{ part: 'tokens' }} search={{ user: user.name }}>
              Tokens of {user.name}
            </Link>
          ),
        ],
        [
          'Changes',
          may('AUDIT_READ') && (
            <Link key="audit" to="/audit" search={{ object: user.id }}>
              In the audit log
            </Link>
          ),
        ],
        ['Unix account', user.unixUser],
        ['OpenID', identity && `${identity.subject} at ${identity.issuer}`],
        ['Allowed', allow.map(formatPermission).join(', ')],
        ['Denied', deny.map(formatPermission).join(', ')],
        ['Permissions', permissions.map(formatPermission).join(', ')],
        ['Created', <Time key="created" at={user.createdAt} />],
        ['Id', <code key="id">{user.id}</code>],
      ]}
    />
  )
}

function UserButtons({ user, onChange }: { user: UserItemFragment; onChange: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const enable = async () => {
    setBusy(true)
    const input = { userId: user.id, disabled: false, expectedVersion: user.version }
    const result = await client.request(ChangeUserDocument, { input }, { attempts: 4 }).finally(() => setBusy(false))
    if (isRefused(result.updateUser)) showToast(result.updateUser.message, { isTrouble: true })
    else showToast(`${user.name} may log in again`)
    onChange()
  }
  return (
    <Buttons>
      {user.disabled ? (
        <Button disabled={isBusy} onClick={() => void enable()}>
          Enable
        </Button>
      ) : (
        <Button onClick={() => void confirmDisable(user, onChange)}>Disable…</Button>
      )}
    </Buttons>
  )
}

/** Asks for confirmation, and names the jobs and tokens of the user. */
async function confirmDisable(user: UserItemFragment, onDone: () => void): Promise<void> {
  const [jobs, tokens] = await Promise.all([
    countJobs('USER', { users: [user.id] }).catch(() => null),
    client.request(ListTokensDocument, { userId: user.id, first: 100 }).catch(() => null),
  ])
  const numbers = jobs && (jobs.get(user.id) ?? noJobs)
  const valid = tokens?.tokens.nodes.filter(({ revokedAt }) => revokedAt === null).length
  const effect = [
    `${user.name} cannot log in any more.`,
    valid === undefined
      ? 'All tokens are revoked.'
      : `${plural(valid, 'token')} ${valid === 1 ? 'is' : 'are'} revoked.`,
    numbers && `${plural(numbers.active, 'running job')} ${numbers.active === 1 ? 'continues' : 'continue'}.`,
    numbers && `${plural(numbers.waiting, 'waiting job')} cannot start until the user is enabled again.`,
    'Revoked tokens stay revoked.',
  ]
  confirmChange({
    title: `Disable ${user.name}?`,
    effect: effect.filter(Boolean).join(' '),
    command: `berth user disable ${quoteShell(user.name)}`,
    confirmText: 'Disable user',
    change: async () => {
      const input = { userId: user.id, expectedVersion: user.version }
      return (await client.request(DisableUserDocument, { input }, { attempts: 4 })).disableUser
    },
    toast: `Disabled ${user.name}`,
    onDone,
  })
}
