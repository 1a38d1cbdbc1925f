import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { FilterSearch, JobsSearch } from '../../features/jobs/filter/filter-text.ts'
import { describePlace } from '../../features/jobs/rows/place.ts'
import { useJobChanges } from '../../features/jobs/rows/use-job-changes.ts'
import {
  type JobCountBy,
  JobCountsDocument,
  type JobCountsQuery,
  type JobFilter,
  ListJobsDocument,
} from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useQuery, useResource } from '../../ground/resource.ts'
import { formatCount } from '../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { StateChip, StateGlyph } from '../../parts/state-glyph.tsx'
import { describeEnd, describeReason, states, stateWords } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import styles from './groups.module.css'

type Count = JobCountsQuery['jobCounts']['rows'][number]
type GroupName = 'user' | 'label' | 'pool' | 'reason'

const by: Readonly<Record<GroupName, JobCountBy>> = { user: 'USER', label: 'LABEL', pool: 'POOL', reason: 'REASON' }
const withoutKey: Readonly<Record<GroupName, string>> = {
  user: 'No user',
  label: 'Without this label',
  pool: 'No pool',
  reason: 'Without a reason',
}
const groupsMax = 100
const readMs = 4_000
const shownJobs = 10

interface GroupsProps {
  /** `user`, or `label:KEY`. */
  group: string
  filter: JobFilter
  search: JobsSearch
}

/** Counts jobs by a property and by state. Each number is a link to the jobs; a group can be opened in place. */
export function Groups({ group, filter, search }: GroupsProps) {
  const [name = '', labelKey] = group.split(/:(.*)/s)
  if (!(name in by))
    return <Empty title="Unknown groups">{`${name} is not one of user, label, pool and reason.`}</Empty>
  if (name === 'label' && !labelKey) return <LabelKeys filter={filter} search={search} />
  return <GroupTable key={group} name={name as GroupName} labelKey={labelKey} filter={filter} search={search} />
}

interface GroupTableProps extends Omit<GroupsProps, 'group'> {
  name: GroupName
  labelKey: string | undefined
}

function GroupTable({ name, labelKey, filter, search }: GroupTableProps) {
  const key = JSON.stringify([name, labelKey, filter])
  const { value, failure, read } = useResource(
    `groups ${key}`,
    (signal) => readGroups({ name, labelKey, filter }, signal),
    { version: useJobChanges(), pauseMs: readMs },
  )
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const { rows, isExact } = value
  if (rows.length === 0) return <Empty title="No job matches">Groups appear here as jobs are submitted.</Empty>
  const most = Math.max(...rows.map(({ count }) => count))
  return (
    <div className={styles.groups}>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {!isExact && <p className={styles.note}>More than 100,000 jobs match; the newest of them are counted.</p>}
      <ul>
        {rows.map((row) => (
          <Group
            key={row.key ?? ''}
            row={row}
            title={describeKey(name, row)}
            terms={toTerms(name, row.key, labelKey)}
            filter={filter}
            search={search}
            most={most}
          />
        ))}
      </ul>
    </div>
  )
}

async function readGroups(
  { name, labelKey, filter }: Omit<GroupTableProps, 'search'>,
  signal: AbortSignal,
): Promise<JobCountsQuery['jobCounts']> {
  const variables = { by: by[name], filter, first: groupsMax, ...(name === 'label' && labelKey && { labelKey }) }
  return (await client.request(JobCountsDocument, variables, { signal })).jobCounts
}

function describeKey(name: GroupName, { key, user }: Count): string {
  if (key === null) return withoutKey[name]
  if (name === 'reason') return describeReason(key)
  return user?.name ?? (key === '' ? 'empty' : key)
}

/** Returns filter terms that match the jobs of a group; null: no filter can match them. */
function toTerms(name: GroupName, key: string | null, labelKey: string | undefined): FilterSearch | null {
  if (key === null) return null
  if (name === 'label') return { label: `${labelKey}=${key}` }
  return { [name]: name === 'reason' ? key.toLowerCase() : key }
}

/** Adds the terms of a group to the filter of the API. */
function narrow(filter: JobFilter, terms: FilterSearch): JobFilter {
  const { user, pool, reason, label } = terms
  const [labelKey = '', ...value] = label?.split('=') ?? []
  return {
    ...filter,
    ...(user !== undefined && { users: [user] }),
    ...(pool !== undefined && { pools: [pool] }),
    ...(reason !== undefined && { stateReasons: [reason.toUpperCase() as never] }),
    ...(label !== undefined && { labels: [...(filter.labels ?? []), { key: labelKey, value: value.join('=') }] }),
  }
}

interface GroupProps {
  row: Count
  title: string
  terms: FilterSearch | null
  filter: JobFilter
  search: JobsSearch
  most: number
}

function Group({ row, title, terms, filter, search, most }: GroupProps) {
  const [isOpen, setOpen] = useState(false)
  const target = { ...search, group: undefined, ...terms }
  const counts = states.flatMap((state) => row.byState.filter((each) => each.state === state))
  return (
    <li className={styles.group}>
      <div className={styles.head}>
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={isOpen}
          disabled={terms === null}
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight size={14} />
          {title}
        </button>
        <span className={styles.bar} aria-hidden="true">
          {counts.map(({ state, count }) => (
            <span key={state} data-state={state} style={{ width: `${(count / most) * 100}%` }} />
          ))}
        </span>
        <span className={styles.counts}>
          {counts.map(({ state, count }) =>
            terms === null ? (
              <span key={state} title={stateWords[state]}>
                <StateGlyph state={state} /> {formatCount(count)}
              </span>
            ) : (
              <Link
                key={state}
                to="/jobs"
                search={{ ...target, state: state.toLowerCase() }}
                title={`${formatCount(count)} ${stateWords[state].toLowerCase()}`}
              >
                <StateGlyph state={state} /> {formatCount(count)}
              </Link>
            ),
          )}
        </span>
        {terms === null ? (
          <strong className={styles.total}>{formatCount(row.count)}</strong>
        ) : (
          <Link to="/jobs" search={target} className={styles.total}>
            {formatCount(row.count)}
          </Link>
        )}
      </div>
      {isOpen && terms && <GroupJobs filter={narrow(filter, terms)} />}
    </li>
  )
}

function GroupJobs({ filter }: { filter: JobFilter }) {
  const { value, failure, read } = useQuery(
    ListJobsDocument,
    { first: shownJobs, filter },
    { version: useJobChanges(), pauseMs: readMs },
  )
  if (!value) return failure ? <FailedInline failure={failure} onRetry={read} /> : <Loading />
  return (
    <ul className={styles.jobs}>
      {value.jobs.nodes.map((job) => (
        <li key={job.id}>
          <Link to="/jobs/$id" params={{ id: job.id }} className={styles.job}>
            <StateChip state={job.state} fraction={job.progress?.fraction} detail={describeEnd(job)} />
            <span className={styles.name}>{nameJob(job)}</span>
            <span className={styles.faint}>{describePlace(job)}</span>
            <span className={styles.faint}>
              <Time at={job.createdAt} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Asks for the label key to group by. It offers the keys of the newest jobs. */
function LabelKeys({ filter, search }: { filter: JobFilter; search: JobsSearch }) {
  const { value, failure, read } = useQuery(ListJobsDocument, { first: groupsMax, filter })
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const keys = [...new Set(value.jobs.nodes.flatMap(({ labels }) => labels.map(({ key }) => key)))].toSorted()
  if (keys.length === 0)
    return <Empty title="No labels">None of the newest jobs that match has a label to group by.</Empty>
  return (
    <Empty title="Group by which label?">
      {keys.map((key) => (
        <Link key={key} to="/jobs" search={{ ...search, group: `label:${key}` }} className={styles.key}>
          {key}
        </Link>
      ))}
    </Empty>
  )
}
