import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { countJobs, noJobs } from '../../features/jobs/rows/count-jobs.ts'
import {
  ChangeTeamDocument,
  FindUsersDocument,
  OneTeamDocument,
  RemoveTeamDocument,
  type TeamItemFragment,
  type UpdateTeamInput,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { createNodeReader } from '../../ground/node-reader.ts'
import { useResource } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { useObjectDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { Form, type Refusal, refusal, TextField } from '../../parts/form.tsx'
import { plural, quoteShell } from '../../parts/format.ts'
import { type FormCallbacks, ObjectPanel, type PanelCallbacks } from '../../parts/object-panel.tsx'
import { Empty } from '../../parts/page-states.tsx'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { Time } from '../../parts/time.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './people.module.css'

const everyMs = 10_000
const readTeam = createNodeReader(OneTeamDocument, 'Team')

export function TeamPanel({ id, ...ends }: PanelCallbacks & { id: string }) {
  const may = useMay()
  const { viewer } = useStart()
  const team = useResource(`team ${id}`, (signal) => readTeam(id, signal), { everyMs })
  const isAdmin = viewer.user.level === 'ADMIN' && may('USER_WRITE')
  return (
    <ObjectPanel
      of={team}
      title={({ name }) => name}
      noun="Team"
      gone={<Empty title="This team does not exist">It was deleted, or you may not see it.</Empty>}
      editText="Rename"
      form={isAdmin && ((value, formEnds) => <RenameForm team={value} {...formEnds} />)}
      keepsFacts
      {...ends}
    >
      {(value, { changed, deleted }) => (
        <>
          <TeamFacts team={value} />
          <Members team={value} mayRemove={may('USER_WRITE')} onChange={changed} />
          {isAdmin && <AddMember key={value.members.nodes.length} team={value} onDone={changed} />}
          {may('USER_WRITE') && (
            <Buttons>
              <Button onClick={() => void confirmDelete(value, deleted)}>Delete…</Button>
            </Buttons>
          )}
        </>
      )}
    </ObjectPanel>
  )
}

const TeamFacts = ({ team }: { team: TeamItemFragment }) => {
  const may = useMay()
  return (
    <Facts
      facts={[
        ['Account', team.account],
        [
          'Jobs',
          <Link key="jobs" to="/jobs" search={{ account: team.account }}>
            All jobs of the account
          </Link>,
        ],
        [
          'Secrets',
          <Link key="secrets" to="/secrets" search={{ team: team.id }}>
            Secrets of the team
          </Link>,
        ],
        [
          'Changes',
          may('AUDIT_READ') && (
            <Link key="audit" to="/audit" search={{ object: team.id }}>
              In the audit log
            </Link>
          ),
        ],
        ['Created', <Time key="created" at={team.createdAt} />],
        ['Id', <code key="id">{team.id}</code>],
      ]}
    />
  )
}

const changeTeam = async (input: UpdateTeamInput): Promise<Refusal | null> => {
  const { updateTeam } = await client.request(ChangeTeamDocument, { input }, { attempts: 4 })
  return isRefused(updateTeam) ? toRefusal(updateTeam) : null
}

interface MembersProps {
  team: TeamItemFragment
  mayRemove: boolean
  onChange: () => void
}

function Members({ team, mayRemove, onChange }: MembersProps) {
  const { nodes, pageInfo } = team.members
  const remove = async (id: string, name: string) => {
    const found = await changeTeam({ teamId: team.id, removeMembers: [id] })
    if (found) showToast(found.message, { isTrouble: true })
    else showToast(`${name} left ${team.name}`)
    onChange()
  }
  if (nodes.length === 0) return <p className={styles.faint}>No members.</p>
  return (
    <ul className={styles.members} aria-label="Members">
      {nodes.map(({ id, name, displayName, level }) => (
        <li key={id}>
          <span className={styles.name}>
            <Link to="/people/$part" params={{ part: 'users' }} search={{ open: id }}>
              {name}
            </Link>
            <small>
              {displayName} {level.toLowerCase()}
            </small>
          </span>
          {mayRemove && (
            <Button look="quiet" aria-label={`Remove ${name}`} onClick={() => void remove(id, name)}>
              <X size={14} />
            </Button>
          )}
        </li>
      ))}
      {pageInfo.hasNextPage && (
        <li>
          <Link to="/people/$part" params={{ part: 'users' }} search={{ team: team.name }}>
            All members
          </Link>
        </li>
      )}
    </ul>
  )
}

const namesMax = 20

function AddMember({ team, onDone }: { team: TeamItemFragment; onDone: () => void }) {
  const [name, setName] = useState('')
  const listId = useId()
  const text = name.trim()
  const { value } = useResource(`find ${text}`, (signal) => find(text, signal), { isOff: text === '' })
  const add = async () => {
    const user = (await find(text)).find((each) => each.name === text)
    if (!user) return refusal(`No user has the name ${text}.`)
    const found = await changeTeam({ teamId: team.id, addMembers: [user.id] })
    if (found) return found
    showToast(`${user.name} joined ${team.name}`)
    onDone()
    return null
  }
  return (
    <Form submitText="Add" onSubmit={add}>
      <TextField
        label="Add a member"
        help={`Members may charge the account ${team.account}.`}
        path="addMembers"
        value={name}
        required
        list={listId}
        autoComplete="off"
        spellCheck={false}
        placeholder="Name of a user"
        onChange={setName}
      />
      <datalist id={listId}>
        {value
          ?.filter(({ id }) => !team.members.nodes.some((member) => member.id === id))
          .map((each) => (
            <option key={each.id} value={each.name} label={each.displayName ?? each.name} />
          ))}
      </datalist>
    </Form>
  )
}

async function find(text: string, signal?: AbortSignal) {
  const input = { filter: { text, disabled: false }, first: namesMax }
  const { users } = await client.request(FindUsersDocument, input, signal ? { signal } : {})
  return users.nodes
}

function RenameForm({ team, onCancel, onDone }: FormCallbacks & { team: TeamItemFragment }) {
  const { base, draft, set, merge } = useObjectDraft({ stored: team, toDraft: ({ name }) => ({ name }) })
  const rename = async (): Promise<Refusal | null> => {
    const input = { teamId: team.id, name: draft.name.trim(), expectedVersion: base.version }
    const { updateTeam } = await client.request(ChangeTeamDocument, { input }, { attempts: 4 })
    if (updateTeam.__typename === 'VersionConflictProblem')
      return merge(team.id, (await readTeam(team.id)) ?? base, toValues)
    if (isRefused(updateTeam)) return toRefusal(updateTeam)
    showToast(`Renamed ${team.name} to ${updateTeam.team.name}`)
    onDone(team.id)
    return null
  }
  return (
    <Form takesFocus submitText="Rename" onCancel={onCancel} onSubmit={rename}>
      <TextField
        label="Name"
        help={`Jobs so far stay charged to ${team.account}; later ones are charged to the account of the new name.`}
        path="name"
        value={draft.name}
        required
        spellCheck={false}
        onChange={(name) => set({ name })}
      />
    </Form>
  )
}

const toValues = ({ name, members }: TeamItemFragment) => ({
  name,
  members: members.nodes.map((each) => each.name).join(', '),
})

async function confirmDelete(team: TeamItemFragment, onDone: () => void): Promise<void> {
  const jobs = await countJobs('ACCOUNT', { accounts: [team.account] }).catch(() => null)
  const alive = jobs && (jobs.get(team.account) ?? noJobs).total
  const { nodes, pageInfo } = team.members
  const members = pageInfo.hasNextPage ? 'More than 100 members' : plural(nodes.length, 'member')
  confirmChange({
    title: `Delete the team ${team.name}?`,
    effect: `${members} can no longer charge ${team.account}. ${alive === null ? 'Running and waiting jobs' : plural(alive, 'running or waiting job')} of the account ${alive === 1 ? 'continues' : 'continue'}, and all of its jobs stay charged to it. Limits and quotas of the team no longer apply.`,
    command: `berth team rm ${quoteShell(team.name)}`,
    confirmText: 'Delete team',
    change: async () => {
      const input = { teamId: team.id, expectedVersion: team.version }
      return (await client.request(RemoveTeamDocument, { input }, { attempts: 4 })).deleteTeam
    },
    toast: `Deleted ${team.name}`,
    onDone,
  })
}
