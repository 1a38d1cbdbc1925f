import { useNavigate, useSearch } from '@tanstack/react-router'
import { type JobNumbers, useJobNumbers } from '../../features/jobs/rows/count-jobs.ts'
import {
  ListUsersDocument,
  TeamNamesDocument,
  type TeamNamesQuery,
  type UserFilter,
  type UserItemFragment,
  type UserLevel,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { usePages } from '../../ground/list-pages.ts'
import { levels } from '../../ground/permissions.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Choice, ListBar, SearchField } from '../../parts/list-bar.tsx'
import { Listing } from '../../parts/listing.tsx'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { JobCount } from './job-count.tsx'
import styles from './people.module.css'
import { UserForm } from './user-form.tsx'
import { UserPanel } from './user-panel.tsx'

const pageSize = 50
const everyMs = 10_000
const levelOptions = levels.map((each) => [each.toLowerCase(), each.toLowerCase()] as const)

const toLevel = (text: string | undefined): UserLevel | undefined => levels.find((each) => each === text?.toUpperCase())

interface UsersSearch {
  text?: string | undefined
  open?: string | undefined
  order?: string | undefined
  level?: string | undefined
  team?: string | undefined
  status?: string | undefined
}

/** The filter of the URL; null: the names of the teams are still to be read. */
function toUserFilter(search: UsersSearch, teams: TeamNamesQuery | undefined): UserFilter | null {
  if (search.team !== undefined && !teams) return null
  const level = toLevel(search.level)
  const teamId = teams?.teams.nodes.find(({ name }) => name === search.team)?.id
  return {
    ...(search.text && { text: search.text }),
    ...(level && { levels: [level] }),
    ...(teamId && { teams: [teamId] }),
    ...(search.status && { disabled: search.status === 'disabled' }),
  }
}

export function Users() {
  const search: UsersSearch = useSearch({ from: '/people/$part' })
  const navigate = useNavigate({ from: '/people/$part' })
  const { server } = useStart()
  const teams = useQuery(TeamNamesDocument, {}).value
  const filter = toUserFilter(search, teams)
  const orderBy = search.order === 'created' ? 'CREATED_AT' : 'NAME'
  const users = usePages(
    `users ${JSON.stringify([filter, orderBy])}`,
    async (after, signal) =>
      (await client.request(ListUsersDocument, { filter, orderBy, after, first: pageSize }, { signal })).users,
    { everyMs, isOff: filter === null },
  )
  const change = (next: UsersSearch, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  const close = () => change({ open: undefined })
  const created = (id: string) => {
    users.read()
    change({ open: id }, true)
  }
  const numbers = useJobNumbers('USER', users.value?.rows.map(({ id }) => id) ?? [])
  const form = (
    <SidePanel title="New user" onClose={close}>
      <UserForm onCancel={close} onDone={created} />
    </SidePanel>
  )
  const details = search.open && <UserPanel key={search.open} id={search.open} onClose={close} onChange={users.read} />
  return (
    <WithPanel panel={search.open === 'new' ? form : details}>
      <UserBar search={search} teams={teams} onChange={change} />
      <Listing
        list={users}
        noun="users"
        hasFilter={filter !== null && Object.keys(filter).length > 0}
        clear={() => change({ text: undefined, level: undefined, team: undefined, status: undefined })}
        empty={server.singleUser ? 'This server has a single user.' : 'You see only yourself.'}
      >
        {(rows) => (
          <Table
            label="Users"
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

interface UserBarProps {
  search: UsersSearch
  teams: TeamNamesQuery | undefined
  onChange: (next: UsersSearch, replace?: boolean) => void
}

function UserBar({ search, teams, onChange }: UserBarProps) {
  const may = useMay()
  const add = may('USER_WRITE') && (
    <Button look="primary" onClick={() => onChange({ open: 'new' })}>
      New user
    </Button>
  )
  return (
    <ListBar actions={add}>
      <SearchField label="Name or address" text={search.text ?? ''} onChange={(text) => onChange({ text }, true)} />
      <Choice
        label="Level"
        any="Any level"
        value={search.level}
        options={levelOptions}
        onChange={(level) => onChange({ level })}
      />
      <Choice
        label="Team"
        any="Any team"
        value={search.team}
        options={teams?.teams.nodes.map(({ name }) => [name, name] as const) ?? []}
        onChange={(team) => onChange({ team })}
      />
      <Choice
        label="Status"
        any="Enabled and disabled"
        value={search.status}
        options={[
          ['enabled', 'Enabled'],
          ['disabled', 'Disabled'],
        ]}
        onChange={(status) => onChange({ status })}
      />
    </ListBar>
  )
}

const columns = (numbers: ReadonlyMap<string, JobNumbers> | undefined): readonly Column<UserItemFragment>[] => [
  {
    title: 'Name',
    order: 'name',
    isAscending: true,
    cell: ({ name, displayName, disabled }) => (
      <span className={styles.name}>
        {name}
        {displayName && <small>{displayName}</small>}
        {disabled && <span className={styles.off}>disabled</span>}
      </span>
    ),
  },
  { title: 'Level', cell: ({ level }) => level.toLowerCase() },
  { title: 'Teams', isSecondary: true, cell: ({ teams }) => teams.map(({ name }) => name).join(', ') },
  {
    title: 'Running',
    isNumber: true,
    cell: ({ id, name }) => (
      <JobCount numbers={numbers} of={id} part="active" search={{ user: name, state: 'active' }} />
    ),
  },
  {
    title: 'Waiting',
    isNumber: true,
    cell: ({ id, name }) => (
      <JobCount numbers={numbers} of={id} part="waiting" search={{ user: name, state: 'waiting' }} />
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
