import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type JobNumbers, useJobNumbers } from '../../features/jobs/rows/count-jobs.ts'
import { ListTeamsDocument, MakeTeamDocument, type TeamItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePages } from '../../ground/list-pages.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Field, Form } from '../../parts/form.tsx'
import { ListBar, SearchField } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { JobCount } from './job-count.tsx'
import styles from './people.module.css'
import { TeamPanel } from './team-panel.tsx'

const pageSize = 50
const everyMs = 10_000

export function Teams() {
  const search = useSearch({ from: '/people/$part' })
  const navigate = useNavigate({ from: '/people/$part' })
  const may = useMay()
  const filter = search.text ? { text: search.text } : {}
  const orderBy = search.order === 'created' ? 'CREATED_AT' : 'NAME'
  const teams = usePages(
    `teams ${JSON.stringify([filter, orderBy])}`,
    async (after, signal) =>
      (await client.request(ListTeamsDocument, { filter, orderBy, after, first: pageSize }, { signal })).teams,
    { everyMs },
  )
  const change = (next: Partial<typeof search>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  const close = () => change({ open: undefined })
  const created = (id: string) => {
    teams.read()
    change({ open: id }, true)
  }
  const numbers = useJobNumbers('ACCOUNT', teams.value?.rows.map(({ account }) => account) ?? [])
  const add = may('USER_WRITE') && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      New team
    </Button>
  )
  return (
    <WithPanel
      panel={
        search.open === 'new' ? (
          <SidePanel title="New team" onClose={close}>
            <TeamForm onCancel={close} onDone={created} />
          </SidePanel>
        ) : (
          search.open && <TeamPanel key={search.open} id={search.open} onClose={close} onChange={teams.read} />
        )
      }
    >
      <ListBar actions={add}>
        <SearchField label="Name or account" text={search.text ?? ''} onChange={(text) => change({ text }, true)} />
      </ListBar>
      <Listing
        list={teams}
        noun="teams"
        hasFilter={!!search.text}
        clear={() => change({ text: undefined })}
        empty="People of a team share limits, quotas and an account."
        emptyActions={add}
      >
        {(rows) => (
          <Table
            label="Teams"
            columns={columns(numbers)}
            rows={rows}
            getKey={({ id }) => id}
            openKey={search.open}
            onOpen={({ id }) => change({ open: id })}
            order={search.order ?? 'name'}
            onOrder={(order) => change({ order: order === 'name' ? undefined : order })}
          />
        )}
      </Listing>
    </WithPanel>
  )
}

const columns = (numbers: ReadonlyMap<string, JobNumbers> | undefined): readonly Column<TeamItemFragment>[] => [
  { title: 'Name', order: 'name', isAscending: true, cell: ({ name }) => name },
  { title: 'Account', isSecondary: true, cell: ({ account }) => account },
  {
    title: 'Members',
    isNumber: true,
    cell: ({ name, members }) => (
      <Link to="/people/$part" params={{ part: 'users' }} search={{ team: name }} className={styles.count}>
        {members.nodes.length}
        {members.pageInfo.hasNextPage && '+'}
      </Link>
    ),
  },
  {
    title: 'Running',
    isNumber: true,
    cell: ({ account }) => (
      <JobCount numbers={numbers} of={account} part="active" search={{ account, state: 'active' }} />
    ),
  },
  {
    title: 'Waiting',
    isNumber: true,
    cell: ({ account }) => (
      <JobCount numbers={numbers} of={account} part="waiting" search={{ account, state: 'waiting' }} />
    ),
  },
  {
    title: 'Created',
    order: 'created',
    isAscending: true,
    isSecondary: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

function TeamForm({ onCancel, onDone }: { onCancel: () => void; onDone: (id: string) => void }) {
  const [name, setName] = useState('')
  const create = async () => {
    const { createTeam } = await client.request(MakeTeamDocument, { input: { name: name.trim() } })
    if (isRefused(createTeam)) return toRefusal(createTeam)
    showToast(`Created ${createTeam.team.name}`)
    onDone(createTeam.team.id)
    return null
  }
  return (
    <Form takesFocus submitText="Create team" onCancel={onCancel} onSubmit={create}>
      {(refusal) => (
        <Field label="Name" help="Its account, which is charged, has the same name." path="name" refusal={refusal}>
          <input
            value={name}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => setName(target.value)}
          />
        </Field>
      )}
    </Form>
  )
}
