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
import { openLayer } from '../../ground/layer-store.ts'
import { formatPermission } from '../../ground/permissions.ts'
import { useResource } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { plural, quoteShell } from '../../parts/format.ts'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './people.module.css'
import { readUser } from './read-people.ts'
import { UserForm } from './user-form.tsx'

const everyMs = 10_000

interface UserPanelProps {
  id: string
  onClose: () => void
  onChange: () => void
}

export function UserPanel({ id, onClose, onChange }: UserPanelProps) {
  const may = useMay()
  const [isEdited, setEdited] = useState(false)
  const { value: user, failure, read } = useResource(`user ${id}`, (signal) => readUser(id, signal), { everyMs })
  const done = () => {
    setEdited(false)
    read()
    onChange()
  }
  const isShown = user && !isEdited
  return (
    <SidePanel
      title={user?.name ?? 'User'}
      onClose={onClose}
      actions={isShown && may('USER_WRITE') && <Button onClick={() => setEdited(true)}>Edit</Button>}
    >
      {user === undefined && (failure ? <Failed failure={failure} onRetry={read} /> : <Loading />)}
      {user === null && <Empty title="This user does not exist">Or you may not see this user.</Empty>}
      {user && isEdited && <UserForm user={user} onCancel={() => setEdited(false)} onDone={done} />}
      {isShown && <UserFacts user={user} />}
      {isShown && may('USER_WRITE') && <UserButtons user={user} onChange={done} />}
    </SidePanel>
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
    <div className={styles.buttons}>
      {user.disabled ? (
        <Button disabled={isBusy} onClick={() => void enable()}>
          Enable
        </Button>
      ) : (
        <Button onClick={() => void confirmDisable(user, onChange)}>Disable…</Button>
      )}
    </div>
  )
}

/** Says first which jobs and tokens it concerns. */
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
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Disable ${user.name}?`,
      effect: effect.filter(Boolean).join(' '),
      jobs: [],
      command: `berth user disable ${quoteShell(user.name)}`,
      confirmText: 'Disable user',
      keepText: 'Keep',
      hasReason: false,
      run: async () => {
        const input = { userId: user.id, expectedVersion: user.version }
        const { disableUser } = await client.request(DisableUserDocument, { input }, { attempts: 4 })
        if (isRefused(disableUser)) return disableUser.message
        showToast(`Disabled ${user.name}`)
        onDone()
        return null
      },
    },
  })
}
