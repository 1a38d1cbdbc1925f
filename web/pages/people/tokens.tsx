import { Link } from '@tanstack/react-router'
import { findUser } from '../../features/jobs/filter/use-names.ts'
import { EndTokenDocument, ListTokensDocument, type TokenItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { type FoundRow, findRow, useList } from '../../ground/list-pages.ts'
import { usePageSearch } from '../../ground/page-search.ts'
import { useResource } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { Facts } from '../../parts/facts.tsx'
import { Forbidden } from '../../parts/forbidden.tsx'
import { Choice } from '../../parts/list-bar.tsx'
import { ObjectList } from '../../parts/object-list.tsx'
import { ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './people.module.css'
import { TokenForm } from './token-form.tsx'

/** The viewer's tokens or, if the viewer may manage them, the tokens of all users. */
export function Tokens() {
  const { search } = usePageSearch()
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
  /** The preselected user of a new token. */
  userName: string
  /** The user whose tokens are listed; undefined: all users. */
  userId: string | undefined
}

function TokenList({ userName, userId }: TokenListProps) {
  const { search, change } = usePageSearch()
  const { viewer } = useStart()
  const may = useMay()
  const tokens = useList(ListTokensDocument, userId ? { userId } : {}, (found) => found.tokens)
  return (
    <ObjectList
      list={tokens}
      noun="token"
      label="Tokens"
      columns={columns}
      filters={
        may('TOKEN_ANY') && (
          <Choice
            label="User"
            any="All users"
            value={search.user}
            options={[[viewer.user.name, 'My tokens']]}
            onChange={(user) => change({ user, open: undefined })}
          />
        )
      }
      empty="A token is a secret that stands for a user, for programs and the command line."
      hasEmptyAction={false}
      form={
        may('TOKEN_OWN', 'TOKEN_ANY') &&
        (({ onCancel }) => <TokenForm userName={userName} userId={userId} onCreate={tokens.read} onClose={onCancel} />)
      }
      panel={(id, ends) => <TokenPanel of={findRow(tokens, id)} {...ends} />}
    />
  )
}

/** Describes why the token no longer works; empty: it works. */
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

const TokenPanel = ({ of, ...ends }: PanelCallbacks & { of: FoundRow<TokenItemFragment> }) => (
  <ObjectPanel
    of={of}
    title={({ name }) => name}
    noun="Token"
    gone={<Empty title="This token is not in the list">Choose its user above, or show more tokens.</Empty>}
    {...ends}
  >
    {(token) => <TokenFacts token={token} onChange={ends.onChange} />}
  </ObjectPanel>
)

function TokenFacts({ token, onChange }: { token: TokenItemFragment; onChange: () => void }) {
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
        <Buttons>
          <Button onClick={() => confirmRevoke(token, onChange)}>Revoke…</Button>
        </Buttons>
      )}
    </>
  )
}

function confirmRevoke(token: TokenItemFragment, onDone: () => void): void {
  confirmChange({
    title: `Revoke the token ${token.name} of ${token.user.name}?`,
    effect:
      'Requests with it are refused at once, and its open streams end within five seconds. Jobs are not affected. This cannot be undone.',
    command: `berth token revoke ${token.prefix}`,
    confirmText: 'Revoke token',
    change: async () => {
      const input = { tokenId: token.id }
      return (await client.request(EndTokenDocument, { input }, { attempts: 4 })).revokeToken
    },
    toast: `Revoked ${token.name}`,
    onDone,
  })
}
