import { useState } from 'react'
import { FindUsersDocument, MakeTokenDocument, type TokenScope } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { scopes } from '../../ground/permissions.ts'
import { useQuery } from '../../ground/resource.ts'
import { serverNowMs } from '../../ground/server-clock.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { CheckList } from '../../parts/check-list.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Field, Form, type Refusal, refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import styles from './people.module.css'

const dayMs = 86_400_000
const lifetimes = { 30: '30 days', 90: '90 days', 365: '1 year' } as const
const scopeTexts: Readonly<Record<TokenScope, string>> = {
  READ: 'read',
  SUBMIT: 'submit: own jobs',
  OPERATE: 'operate: approvals, priorities, jobs of others',
  ADMIN: 'admin: people, policies, nodes',
  EXEC: 'exec: enter running jobs of others',
}
const usersMax = 100

interface TokenFormProps {
  /** Whose token it is at first. */
  userName: string
  userId: string | undefined
  onCreate: () => void
  onClose: () => void
}

/** Creates a token, then shows its secret, which the server does not show again. */
export function TokenForm({ userName, userId, onCreate, onClose }: TokenFormProps) {
  const { viewer } = useStart()
  const may = useMay()
  const [owner, setOwner] = useState(userName)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly TokenScope[]>(viewer.scopes)
  const [days, setDays] = useState('')
  const [created, setCreated] = useState<{ name: string; secret: string } | null>(null)
  const variables = { filter: { disabled: false }, first: usersMax }
  const users = useQuery(FindUsersDocument, variables, { isOff: !may('TOKEN_ANY') })
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
      {(found) => (
        <>
          {may('TOKEN_ANY') && (
            <Field label="User" help="Requests with the token act as this user." path="userId" refusal={found}>
              <select value={owner} onChange={({ target }) => setOwner(target.value)}>
                {[...new Set([owner, viewer.user.name, ...names])].map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </Field>
          )}
          <Field label="Name" help="Says what it is for: laptop, ci." path="name" refusal={found}>
            <input value={name} required autoComplete="off" onChange={({ target }) => setName(target.value)} />
          </Field>
          <ScopeFields chosen={chosen} refusal={found} onChange={setChosen} />
          <Field label="Expires" help="Never later than the token that you use." path="expiresAt" refusal={found}>
            <select value={days} onChange={({ target }) => setDays(target.value)}>
              <option value="">with the token that I use</option>
              {Object.entries(lifetimes).map(([value, text]) => (
                <option key={value} value={value}>
                  in {text}
                </option>
              ))}
            </select>
          </Field>
        </>
      )}
    </Form>
  )
}

interface ScopeFieldsProps {
  chosen: readonly TokenScope[]
  refusal: Refusal | null
  onChange: (chosen: readonly TokenScope[]) => void
}

/** Every token may read; none may more than the one that creates it. */
function ScopeFields({ chosen, refusal: found, onChange }: ScopeFieldsProps) {
  const { viewer } = useStart()
  return (
    <CheckList
      label="Scopes"
      help="Never more than its user may do. Yours are the most that you can give."
      path="scopes"
      refusal={found}
      options={scopes.map((value) => ({
        value,
        text: scopeTexts[value],
        isDisabled: value === 'READ' || !viewer.scopes.includes(value),
      }))}
      chosen={['READ', ...chosen.filter((each) => each !== 'READ')]}
      onChange={onChange}
    />
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
    <div className={styles.buttons}>
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </>
)
