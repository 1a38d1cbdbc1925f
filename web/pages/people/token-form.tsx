import { useState } from 'react'
import { FindUsersDocument, MakeTokenDocument, type TokenScope } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { scopes } from '../../ground/permissions.ts'
import { useQuery } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { CheckList } from '../../parts/check-list.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Form, type Refusal, refusal, SelectField, TextField } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import styles from './people.module.css'

const dayMs = 86_400_000
/** The offered lifetimes: days, and the text. */
const lifetimes = [
  ['', 'with the token that I use'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in 1 year'],
] as const
const scopeTexts: Readonly<Record<TokenScope, string>> = {
  READ: 'read',
  SUBMIT: 'submit: own jobs',
  OPERATE: 'operate: approvals, priorities, jobs of others',
  ADMIN: 'admin: people, policies, nodes',
  EXEC: 'exec: enter running jobs of others',
}
const enabledUsers = { filter: { disabled: false }, first: 100 }

interface TokenFormProps {
  /** The preselected user. */
  userName: string
  userId: string | undefined
  onCreate: () => void
  onClose: () => void
}

/** Creates a token, and shows its secret, which the server does not show again. */
export function TokenForm({ userName, userId, onCreate, onClose }: TokenFormProps) {
  const { viewer } = useStart()
  const may = useMay()
  const [owner, setOwner] = useState(userName)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly TokenScope[]>(viewer.scopes)
  const [days, setDays] = useState<string>('')
  const [created, setCreated] = useState<{ name: string; secret: string } | null>(null)
  const users = useQuery(FindUsersDocument, enabledUsers, { isOff: !may('TOKEN_ANY') })
  const names = users.value?.users.nodes.map((each) => each.name) ?? []
  const create = async (): Promise<Refusal | null> => {
    const known = users.value?.users.nodes.find((each) => each.name === owner)?.id
    const ownerId = owner === userName && userId ? userId : owner === viewer.user.name ? viewer.user.id : known
    if (!ownerId && !users.value)
      return refusal(`The users could not be read${users.failure ? `: ${users.failure.message}` : ' yet'}`)
    if (!ownerId) return refusal(`No user has the name ${owner}.`)
    const expiresAt = days && new Date(serverNowMs() + Number(days) * dayMs).toISOString()
    const input = { name: name.trim(), scopes: [...chosen], userId: ownerId, ...(expiresAt && { expiresAt }) }
    const { createToken } = await client.request(MakeTokenDocument, { input })
    if (isRefused(createToken)) return toRefusal(createToken)
    setCreated({ name: createToken.token.name, secret: createToken.secret })
    onCreate()
    return null
  }
  if (created) return <Secret {...created} onClose={onClose} />
  return (
    <Form takesFocus submitText="Create token" onCancel={onClose} onSubmit={create}>
      {may('TOKEN_ANY') && (
        <SelectField
          label="User"
          help="Requests with the token act as this user."
          path="userId"
          value={owner}
          options={[...new Set([owner, viewer.user.name, ...names])].map((each) => [each, each])}
          onChange={setOwner}
        />
      )}
      <TextField
        label="Name"
        help="Says what it is for: laptop, ci."
        path="name"
        value={name}
        required
        autoComplete="off"
        onChange={setName}
      />
      {/* Every token has the scope READ. No token has more scopes than the token that creates it. */}
      <CheckList
        label="Scopes"
        help="Never more than its user may do. Yours are the most that you can give."
        path="scopes"
        options={scopes.map((value) => ({
          value,
          text: scopeTexts[value],
          isDisabled: value === 'READ' || !viewer.scopes.includes(value),
        }))}
        chosen={['READ', ...chosen.filter((each) => each !== 'READ')]}
        onChange={setChosen}
      />
      <SelectField
        label="Expires"
        help="Never later than the token that you use."
        path="expiresAt"
        value={days}
        options={lifetimes}
        onChange={setDays}
      />
    </Form>
  )
}

const Secret = ({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) => (
  <>
    <p role="status">
      This is the secret of <strong>{name}</strong>. Copy it now: it is not shown again.
    </p>
    <p className={styles.secret}>
      <code>{secret}</code>
      <CopyButton text={secret} what="secret" />
    </p>
    <p className={styles.faint}>
      On the command line: <code>export BERTH_TOKEN=…</code>
    </p>
    <Buttons>
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </Buttons>
  </>
)
