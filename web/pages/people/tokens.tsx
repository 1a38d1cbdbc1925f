import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { findUser } from '../../features/jobs/filter/use-names.ts'
import { EndTokenDocument, ListTokensDocument, type TokenItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { usePages } from '../../ground/list-pages.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Forbidden } from '../../parts/forbidden.tsx'
import { Choice, ListBar } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './people.module.css'
import { TokenForm } from './token-form.tsx'

const pageSize = 50
const everyMs = 10_000

/** One's own tokens; those of others for who may manage them. */
export function Tokens() {
  const search = useSearch({ from: '/people/$part' })
  const { viewer } = useStart()
  const may = useMay()
  const name = search.user ?? (may('TOKEN_ANY') ? undefined : viewer.user.name)
  const isSelf = name === viewer.user.name
  const user = useResource(`user named ${name}`, (signal) => findUser(name ?? '', signal), {
    isOff: name === undefined || isSelf,
  })
  if (viewer.user.level === 'VIEWER' && !may('TOKEN_OWN', 'TOKEN_ANY')) return <Forbidden permission="TOKEN_OWN" />
  if (name === undefined) return <TokenList userName={viewer.user.name} userId={undefined} />
  const userId = isSelf ? viewer.user.id : user.value
  if (userId) return <TokenList userName={name} userId={userId} />
  if (user.failure) return <Failed failure={user.failure} onRetry={user.read} />
  if (user.isLoading) return <Loading />
  return <Empty title={`No user ${name}`}>The user does not exist, or you may not see the user.</Empty>
}

interface TokenListProps {
  /** Whose token a new one is at first. */
  userName: string
  /** undefined: those of all users. */
  userId: string | undefined
}

function TokenList({ userName, userId }: TokenListProps) {
  const search = useSearch({ from: '/people/$part' })
  const navigate = useNavigate({ from: '/people/$part' })
  const { viewer } = useStart()
  const may = useMay()
  const tokens = usePages(
    `tokens ${userId}`,
    async (after, signal) =>
      (await client.request(ListTokensDocument, { ...(userId && { userId }), after, first: pageSize }, { signal }))
        .tokens,
    { everyMs },
  )
  const change = (next: Partial<typeof search>) => void navigate({ search: (before) => ({ ...before, ...next }) })
  const close = () => change({ open: undefined })
  const open = tokens.value?.rows.find(({ id }) => id === search.open)
  const form = (
    <SidePanel title="New token" onClose={close}>
      <TokenForm userName={userName} userId={userId} onCreate={tokens.read} onClose={close} />
    </SidePanel>
  )
  const details = search.open && (
    <SidePanel title={open?.name ?? 'Token'} onClose={close}>
      {open ? <TokenPanel token={open} onChange={tokens.read} /> : tokens.isLoading ? <Loading /> : <Gone />}
    </SidePanel>
  )
  const add = may('TOKEN_OWN', 'TOKEN_ANY') && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      New token
    </Button>
  )
  return (
    <WithPanel panel={search.open === 'new' ? form : details}>
      <ListBar actions={add}>
        {may('TOKEN_ANY') && (
          <Choice
            label="User"
            any="All users"
            value={search.user}
            options={[[viewer.user.name, 'My tokens']]}
            onChange={(user) => change({ user, open: undefined })}
          />
        )}
      </ListBar>
      <Listing
        list={tokens}
        noun="tokens"
        hasFilter={false}
        empty="A token is a secret that stands for a user, for programs and the command line."
      >
        {(rows) => (
          <Table
            label="Tokens"
            columns={columns}
            rows={rows}
            getKey={({ id }) => id}
            openKey={search.open}
            onOpen={({ id }) => change({ open: id })}
          />
        )}
      </Listing>
    </WithPanel>
  )
}

const Gone = () => <Empty title="This token is not in the list">Choose its user above, or show more tokens.</Empty>

/** The token no longer works; empty: it works. */
function describeEnd({ revokedAt, expiresAt, user }: TokenItemFragment): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && Date.parse(expiresAt) <= serverNowMs()) return 'expired'
  return user.disabled ? 'user disabled' : ''
}

const columns: readonly Column<TokenItemFragment>[] = [
  {
    title: 'Name',
    cell: (token) => (
      <span className={styles.name}>
        {token.name}
        {describeEnd(token) && <span className={styles.off}>{describeEnd(token)}</span>}
      </span>
    ),
  },
  { title: 'Begins with', isSecondary: true, cell: ({ prefix }) => <code>{prefix}…</code> },
  { title: 'User', cell: ({ user }) => user.name },
  { title: 'Scopes', isSecondary: true, cell: ({ scopes }) => scopes.map((each) => each.toLowerCase()).join(', ') },
  { title: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never') },
  { title: 'Expires', isSecondary: true, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'never') },
]

function TokenPanel({ token, onChange }: { token: TokenItemFragment; onChange: () => void }) {
  const may = useMay()
  const { viewer } = useStart()
  const mayRevoke = may('TOKEN_ANY') || (token.user.id === viewer.user.id && may('TOKEN_OWN'))
  return (
    <>
      <Facts
        facts={[
          [
            'User',
            <Link key="user" to="/people/$part" params={{ part: 'users' }} search={{ open: token.user.id }}>
              {token.user.name}
            </Link>,
          ],
          ['State', describeEnd(token) || 'works'],
          ['Begins with', <code key="prefix">{token.prefix}…</code>],
          ['Scopes', token.scopes.map((each) => each.toLowerCase()).join(', ')],
          ['Created', <Time key="created" at={token.createdAt} />],
          ['Last used', token.lastUsedAt ? <Time key="used" at={token.lastUsedAt} /> : 'never'],
          ['Expires', token.expiresAt ? <Time key="expires" at={token.expiresAt} /> : 'never'],
          ['Revoked', token.revokedAt && <Time key="revoked" at={token.revokedAt} />],
          ['Id', <code key="id">{token.id}</code>],
        ]}
      />
      {mayRevoke && token.revokedAt === null && (
        <div className={styles.buttons}>
          <Button onClick={() => confirmRevoke(token, onChange)}>Revoke…</Button>
        </div>
      )}
    </>
  )
}

function confirmRevoke(token: TokenItemFragment, onDone: () => void): void {
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Revoke the token ${token.name} of ${token.user.name}?`,
      effect:
        'Requests with it are refused at once, and its open streams end within five seconds. Jobs are not affected. This cannot be undone.',
      jobs: [],
      command: `berth token revoke ${token.prefix}`,
      confirmText: 'Revoke token',
      keepText: 'Keep',
      hasReason: false,
      run: async () => {
        const { revokeToken } = await client.request(
          EndTokenDocument,
          { input: { tokenId: token.id } },
          { attempts: 4 },
        )
        if (isRefused(revokeToken)) return revokeToken.message
        showToast(`Revoked ${token.name}`)
        onDone()
        return null
      },
    },
  })
}
