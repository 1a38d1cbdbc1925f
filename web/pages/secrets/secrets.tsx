import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import {
  ListSecretsDocument,
  RemoveSecretDocument,
  type SecretItemFragment,
  SecretTeamsDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { usePages } from '../../ground/list-pages.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { quoteShell } from '../../parts/format.ts'
import { Choice, ListBar } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Empty, Loading } from '../../parts/page-states.tsx'
import { isRefused } from '../../parts/refusal.ts'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { SecretForm, type SecretTeam } from './secret-form.tsx'
import styles from './secrets.module.css'

const pageSize = 50
const everyMs = 10_000

/** Teams whose secrets the viewer sees; an ADMIN sees those of all. */
function useTeams(): readonly SecretTeam[] {
  const { viewer } = useStart()
  const { value } = useQuery(SecretTeamsDocument, {})
  return (viewer.user.level === 'ADMIN' ? value?.teams.nodes : value?.viewer.user.teams) ?? []
}

/** One's own secrets and those of one's teams. */
export function SecretsPage() {
  usePageTitle('Secrets')
  const search = useSearch({ from: '/secrets' })
  const navigate = useNavigate({ from: '/secrets' })
  const may = useMay()
  const teams = useTeams()
  const secrets = usePages(
    `secrets ${search.team}`,
    async (after, signal) =>
      (await client.request(ListSecretsDocument, { teamId: search.team ?? null, after, first: pageSize }, { signal }))
        .secrets,
    { everyMs },
  )
  const change = (next: Partial<typeof search>) => void navigate({ search: (before) => ({ ...before, ...next }) })
  const close = () => change({ open: undefined })
  const changed = (open: string | undefined) => {
    secrets.read()
    change({ open })
  }
  const open = secrets.value?.rows.find(({ id }) => id === search.open)
  const add = may('SECRET_OWN') && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      New secret
    </Button>
  )
  const settable = may('SECRET_TEAM') ? teams : []
  const panel = search.open && (
    <SidePanel
      key={search.open}
      title={search.open === 'new' ? 'New secret' : (open?.name ?? 'Secret')}
      onClose={close}
    >
      {search.open === 'new' && <SecretForm teams={settable} teamId={search.team} onDone={changed} onClose={close} />}
      {open && <SecretPanel secret={open} onChange={changed} />}
      {search.open !== 'new' &&
        !open &&
        (secrets.isLoading ? <Loading /> : <Empty title="This secret is not in the list" />)}
    </SidePanel>
  )
  return (
    <WithPanel panel={panel}>
      <ListBar actions={add}>
        {teams.length > 0 && (
          <Choice
            label="Owner"
            any="All owners"
            value={search.team}
            options={teams.map(({ id, name }) => [id, `Team ${name}`])}
            onChange={(team) => change({ team, open: undefined })}
          />
        )}
      </ListBar>
      <Listing
        list={secrets}
        noun="secrets"
        hasFilter={search.team !== undefined}
        clear={() => change({ team: undefined })}
        empty="A secret is a key or a password that jobs get as an environment variable. Its value is never shown again."
        emptyActions={add}
      >
        {(rows) => <Rows rows={rows} openKey={search.open} onOpen={(id) => change({ open: id })} />}
      </Listing>
    </WithPanel>
  )
}

interface RowsProps {
  rows: readonly SecretItemFragment[]
  openKey: string | undefined
  onOpen: (id: string) => void
}

const Rows = ({ onOpen, ...table }: RowsProps) => (
  <Table label="Secrets" columns={columns} getKey={({ id }) => id} onOpen={({ id }) => onOpen(id)} {...table} />
)

const ownerText = ({ team, ownedBy }: SecretItemFragment) => (team ? `Team ${team.name}` : (ownedBy?.name ?? ''))
const usedText = ({ lastUsedAt }: SecretItemFragment) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never')

const columns: readonly Column<SecretItemFragment>[] = [
  { title: 'Name', cell: ({ name }) => <code>{name}</code> },
  { title: 'Owner', cell: ownerText },
  { title: 'Set', isSecondary: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  { title: 'Set by', isSecondary: true, cell: ({ setBy }) => setBy?.name },
  { title: 'Last used', cell: usedText },
]

function SecretPanel({ secret, onChange }: { secret: SecretItemFragment; onChange: (id?: string) => void }) {
  const may = useMay()
  const [isReplaced, setReplaced] = useState(false)
  const done = (id: string) => {
    setReplaced(false)
    onChange(id)
  }
  return (
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
      {isReplaced && <SecretForm secret={secret} teams={[]} onDone={done} onClose={() => setReplaced(false)} />}
      {may(secret.team ? 'SECRET_TEAM' : 'SECRET_OWN') && !isReplaced && (
        <div className={styles.buttons}>
          <Button onClick={() => setReplaced(true)}>Replace value…</Button>
          <Button onClick={() => confirmDelete(secret, () => onChange())}>Delete…</Button>
        </div>
      )}
    </>
  )
}

function confirmDelete({ name, team }: SecretItemFragment, onDone: () => void): void {
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Delete the secret ${name}?`,
      effect: 'Running jobs keep the value. Waiting jobs that name it fail at their start. This cannot be undone.',
      jobs: [],
      command: `berth secret rm ${name}${team ? ` --team ${quoteShell(team.name)}` : ''}`,
      confirmText: 'Delete secret',
      keepText: 'Keep',
      hasReason: false,
      run: async () => {
        const input = { name, teamId: team?.id ?? null }
        const { deleteSecret } = await client.request(RemoveSecretDocument, { input }, { attempts: 4 })
        if (isRefused(deleteSecret)) return deleteSecret.message
        showToast(`Deleted ${name}`)
        onDone()
        return null
      },
    },
  })
}
