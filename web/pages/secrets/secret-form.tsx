import { useState } from 'react'
import { type SecretRowFragment, SetSecretDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Field, Form, type Refusal, SelectField, TextField } from '../../parts/form.tsx'
import type { FormCallbacks } from '../../parts/object-panel.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './secrets.module.css'

export interface SecretTeam {
  id: string
  name: string
}

interface SecretFormProps extends FormCallbacks {
  /** The secret whose value is replaced; absent: creates a secret. */
  secret?: SecretRowFragment
  /** Teams for which the viewer may set secrets. */
  teams: readonly SecretTeam[]
  /** Id of the preselected team. */
  teamId?: string | undefined
}

export function SecretForm({ secret, teams, teamId, onDone, onCancel }: SecretFormProps) {
  const [name, setName] = useState('')
  const [owner, setOwner] = useState(secret?.team?.id ?? teamId ?? '')
  const [value, setValue] = useState('')
  const save = async (): Promise<Refusal | null> => {
    const input = { name: secret?.name ?? name.trim(), value, ...(owner && { teamId: owner }) }
    const { setSecret } = await client.request(SetSecretDocument, { input }, { attempts: 4 })
    if (isRefused(setSecret)) return toRefusal(setSecret)
    showToast(`Set ${setSecret.secret.name}`)
    onDone(setSecret.secret.id)
    return null
  }
  return (
    <Form takesFocus submitText={secret ? 'Replace value' : 'Set secret'} onCancel={onCancel} onSubmit={save}>
      {!secret && (
        <TextField
          label="Name"
          help="The environment variable that jobs get: WANDB_API_KEY."
          path="name"
          value={name}
          required
          autoComplete="off"
          spellCheck={false}
          onChange={setName}
        />
      )}
      {!secret && teams.length > 0 && (
        <SelectField
          label="Owner"
          help="Jobs of the owner may use it."
          path="teamId"
          value={owner}
          options={[['', 'You'], ...teams.map((team) => [team.id, `Team ${team.name}`] as const)]}
          onChange={setOwner}
        />
      )}
      <Field label="Value" help="At most 64 KiB. It is not shown again." path="value">
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
    </Form>
  )
}
