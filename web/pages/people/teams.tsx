import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type JobNumbers, useJobNumbers } from '../../features/jobs/rows/count-jobs.ts'
import { ListTeamsDocument, MakeTeamDocument, type TeamItemFragment } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useList } from '../../ground/list-pages.ts'
import { usePageSearch } from '../../ground/page-search.ts'
import { useMay } from '../../ground/use-may.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { SearchField } from '../../parts/list-bar.tsx'
import { ObjectList } from '../../parts/object-list.tsx'
import type { FormCallbacks } from '../../parts/object-panel.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { listJobColumns } from './job-columns.tsx'
import styles from './people.module.css'
import { TeamPanel } from './team-panel.tsx'

export function Teams() {
  const { search, change } = usePageSearch()
  const may = useMay()
  const filter = search.text ? { text: search.text } : {}
  const orderBy = search.order === 'created' ? 'CREATED_AT' : 'NAME'
  const teams = useList(ListTeamsDocument, { filter, orderBy }, (found) => found.teams)
  const numbers = useJobNumbers('ACCOUNT', teams.value?.rows.map(({ account }) => account) ?? [])
  return (
    <ObjectList
      list={teams}
      noun="team"
      label="Teams"
      columns={columns(numbers)}
      defaultOrder="name"
      filters={
        <SearchField label="Name or account" text={search.text ?? ''} onChange={(text) => change({ text }, true)} />
      }
      clear={!!search.text && (() => change({ text: undefined }))}
      empty="People of a team share limits, quotas and an account."
      form={may('USER_WRITE') && ((ends) => <TeamForm {...ends} />)}
      panel={(id, ends) => <TeamPanel id={id} {...ends} />}
    />
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
  ...listJobColumns<TeamItemFragment>({
    numbers,
    keyOf: ({ account }) => account,
    searchOf: ({ account }) => ({ account }),
  }),
  {
    title: 'Created',
    order: 'created',
    isAscending: true,
    isSecondary: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

function TeamForm({ onCancel, onDone }: FormCallbacks) {
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
      <TextField
        label="Name"
        help="Its account, which is charged, has the same name."
        path="name"
        value={name}
        required
        autoComplete="off"
        spellCheck={false}
        onChange={setName}
      />
    </Form>
  )
}
