import { useState } from 'react'
import { SaveSecretDocument, type SecretItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Field, Form, type Refusal } from '../../parts/form.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './secrets.module.css'

export interface SecretTeam {
  id: string
  name: string
}

interface SecretFormProps {
  /** The secret whose value is replaced; absent: a new one. */
  secret?: SecretItemFragment
  /** Teams whose secrets the viewer may set. */
  teams: readonly SecretTeam[]
  /** Id of the team that is chosen at first. */
  teamId?: string | undefined
  onDone: (id: string) => void
  onClose: () => void
}

export function SecretForm({ secret, teams, teamId, onDone, onClose }: SecretFormProps) {
  const [name, setName] = useState('')
  const [owner, setOwner] = useState(secret?.team?.id ?? teamId ?? '')
  const [value, setValue] = useState('')
  const save = async (): Promise<Refusal | null> => {
    const input = { name: secret?.name ?? name.trim(), value, ...(owner && { teamId: owner }) }
    const { setSecret } = await client.request(SaveSecretDocument, { input }, { attempts: 4 })
    if (isRefused(setSecret)) return toRefusal(setSecret)
    showToast(`Set ${setSecret.secret.name}`)
    onDone(setSecret.secret.id)
    return null
  }
  return (
    <Form takesFocus submitText={secret ? 'Replace value' : 'Set secret'} onCancel={onClose} onSubmit={save}>
      {(found) => (
        <>
          {!secret && (
            <Field
              label="Name"
              help="The environment variable that jobs get: WANDB_API_KEY."
              path="name"
              refusal={found}
            >
              <input
                value={name}
                required
                autoComplete="off"
                spellCheck={false}
                onChange={({ target }) => setName(target.value)}
              />
            </Field>
          )}
          {!secret && teams.length > 0 && (
            <Field label="Owner" help="Jobs of the owner may use it." path="teamId" refusal={found}>
              <select value={owner} onChange={({ target }) => setOwner(target.value)}>
                <option value="">You</option>
                {teams.map((team) => (
                  <option key={team.id} value={team.id}>
                    Team {team.name}
                  </option>
                ))}
              </select>
            </Field>
          )}
          <Field label="Value" help="At most 64 KiB. It is not shown again." path="value" refusal={found}>
            <textarea
              className={styles.value}
              value={value}
              required
              rows={4}
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => setValue(target.value)}
            />
          </Field>
        </>
      )}
    </Form>
  )
}
