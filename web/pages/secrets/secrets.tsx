import { useState } from 'react'
import {
  DeleteSecretDocument,
  type SecretRowFragment,
  SecretsDocument,
  SecretTeamsDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { type FoundRow, findRow, useList } from '../../ground/list-pages.ts'
import { usePageSearch } from '../../ground/page-search.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { Facts } from '../../parts/facts.tsx'
import { quoteShell } from '../../parts/format.ts'
import { Choice } from '../../parts/list-bar.tsx'
import { ObjectList } from '../../parts/object-list.tsx'
import { ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty } from '../../parts/page-states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { SecretForm, type SecretTeam } from './secret-form.tsx'

/** Returns the teams whose secrets the viewer sees: an ADMIN sees those of all teams. */
function useTeams(): readonly SecretTeam[] {
  const { viewer } = useStart()
  const { value } = useQuery(SecretTeamsDocument, {})
  return (viewer.user.level === 'ADMIN' ? value?.teams.nodes : value?.viewer.user.teams) ?? []
}

/** Lists the secrets of the viewer and of the viewer's teams. */
export function SecretsPage() {
  usePageTitle('Secrets')
  const { search, change } = usePageSearch()
  const may = useMay()
  const teams = useTeams()
  const secrets = useList(SecretsDocument, { teamId: search.team ?? null }, (found) => found.secrets)
  return (
    <ObjectList
      list={secrets}
      noun="secret"
      label="Secrets"
      columns={columns}
      filters={
        teams.length > 0 && (
          <Choice
            label="Owner"
            any="All owners"
            value={search.team}
            options={teams.map(({ id, name }) => [id, `Team ${name}`])}
            onChange={(team) => change({ team, open: undefined })}
          />
        )
      }
      clear={search.team !== undefined && (() => change({ team: undefined }))}
      empty="A secret is a key or a password that jobs get as an environment variable. Its value is never shown again."
      form={
        may('SECRET_OWN') &&
        ((ends) => <SecretForm teams={may('SECRET_TEAM') ? teams : []} teamId={search.team} {...ends} />)
      }
      panel={(id, ends) => <SecretPanel of={findRow(secrets, id)} {...ends} />}
    />
  )
}

const ownerText = ({ team, ownedBy }: SecretRowFragment) => (team ? `Team ${team.name}` : (ownedBy?.name ?? ''))
const usedText = ({ lastUsedAt }: SecretRowFragment) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never')

const columns: readonly Column<SecretRowFragment>[] = [
  { title: 'Name', cell: ({ name }) => <code>{name}</code> },
  { title: 'Owner', cell: ownerText },
  { title: 'Set', isSecondary: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  { title: 'Set by', isSecondary: true, cell: ({ setBy }) => setBy?.name },
  { title: 'Last used', cell: usedText },
]

function SecretPanel({ of, ...ends }: PanelCallbacks & { of: FoundRow<SecretRowFragment> }) {
  const may = useMay()
  const [isReplaced, setReplaced] = useState(false)
  const replaced = () => {
    setReplaced(false)
    ends.onChange()
  }
  return (
    <ObjectPanel
      of={of}
      title={({ name }) => name}
      noun="Secret"
      gone={<Empty title="This secret is not in the list" />}
      {...ends}
    >
      {(secret, { deleted }) => (
        <>
          <Facts
            facts={[
              ['Owner', ownerText(secret)],
              ['Use', <code key="flag">berth submit --secret {secret.name}</code>],
              ['Set', <Time key="set" at={secret.updatedAt} />],
              ['Set by', secret.setBy?.name],
              ['Created', <Time key="created" at={secret.createdAt} />],
              ['Last used', usedText(secret)],
              ['Id', <code key="id">{secret.id}</code>],
            ]}
          />
          {isReplaced && (
            <SecretForm secret={secret} teams={[]} onCancel={() => setReplaced(false)} onDone={replaced} />
          )}
          {may(secret.team ? 'SECRET_TEAM' : 'SECRET_OWN') && !isReplaced && (
            <Buttons>
              <Button onClick={() => setReplaced(true)}>Replace value…</Button>
              <Button onClick={() => confirmDelete(secret, deleted)}>Delete…</Button>
            </Buttons>
          )}
        </>
      )}
    </ObjectPanel>
  )
}

function confirmDelete({ name, team }: SecretRowFragment, onDone: () => void): void {
  confirmChange({
    title: `Delete the secret ${name}?`,
    effect: 'Running jobs keep the value. Waiting jobs that name it fail at their start. This cannot be undone.',
    command: `berth secret rm ${name}${team ? ` --team ${quoteShell(team.name)}` : ''}`,
    confirmText: 'Delete secret',
    change: async () => {
      const input = { name, teamId: team?.id ?? null }
      return (await client.request(DeleteSecretDocument, { input }, { attempts: 4 })).deleteSecret
    },
    toast: `Deleted ${name}`,
    onDone,
  })
}
