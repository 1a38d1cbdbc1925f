import { type JobNumbers, useJobNumbers } from '../../features/jobs/rows/count-jobs.ts'
import {
  ListUsersDocument,
  TeamNamesDocument,
  type TeamNamesQuery,
  type UserFilter,
  type UserItemFragment,
  type UserLevel,
} from '../../generated/graphql.ts'
import { useList } from '../../ground/list-pages.ts'
import { type PageSearch, usePageSearch } from '../../ground/page-search.ts'
import { levels } from '../../ground/permissions.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Choice, SearchField } from '../../parts/list-bar.tsx'
import { ObjectList } from '../../parts/object-list.tsx'
import type { Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { listJobColumns } from './job-columns.tsx'
import styles from './people.module.css'
import { UserForm } from './user-form.tsx'
import { UserPanel } from './user-panel.tsx'

const levelOptions = levels.map((each) => [each.toLowerCase(), each.toLowerCase()] as const)

const toLevel = (text: string | undefined): UserLevel | undefined => levels.find((each) => each === text?.toUpperCase())

/** Converts the search parameters to a filter; null: the names of the teams are not read yet. */
function toUserFilter(search: PageSearch, teams: TeamNamesQuery | undefined): UserFilter | null {
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
  const { search, change } = usePageSearch()
  const { server } = useStart()
  const may = useMay()
  const teams = useQuery(TeamNamesDocument, {}).value
  const filter = toUserFilter(search, teams)
  const orderBy = search.order === 'created' ? 'CREATED_AT' : 'NAME'
  const users = useList(ListUsersDocument, { filter, orderBy }, (found) => found.users, { isOff: filter === null })
  const numbers = useJobNumbers('USER', users.value?.rows.map(({ id }) => id) ?? [])
  return (
    <ObjectList
      list={users}
      noun="user"
      label="Users"
      columns={columns(numbers)}
      defaultOrder="name"
      filters={<UserFilters search={search} teams={teams} onChange={change} />}
      clear={
        filter !== null &&
        Object.keys(filter).length > 0 &&
        (() => change({ text: undefined, level: undefined, team: undefined, status: undefined }))
      }
      hasEmptyAction={false}
      empty={server.singleUser ? 'This server has a single user.' : 'You see only yourself.'}
      form={may('USER_WRITE') && ((ends) => <UserForm {...ends} />)}
      panel={(id, ends) => <UserPanel id={id} {...ends} />}
    />
  )
}

interface UserFiltersProps {
  search: PageSearch
  teams: TeamNamesQuery | undefined
  onChange: (next: PageSearch, replace?: boolean) => void
}

const UserFilters = ({ search, teams, onChange }: UserFiltersProps) => (
  <>
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
  </>
)

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
  ...listJobColumns<UserItemFragment>({ numbers, keyOf: ({ id }) => id, searchOf: ({ name }) => ({ user: name }) }),
  {
    title: 'Created',
    order: 'created',
    isAscending: true,
    isSecondary: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]
