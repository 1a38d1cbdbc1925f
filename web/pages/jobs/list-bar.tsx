import { useNavigate } from '@tanstack/react-router'
import { CalendarDays, Columns3 } from 'lucide-react'
import { type Ref, useRef } from 'react'
import { FilterField } from '../../features/jobs/filter/filter-field.tsx'
import {
  type FilterProblem,
  formatFilter,
  type JobsSearch,
  parseFilter,
} from '../../features/jobs/filter/filter-text.ts'
import { orders, readOrder } from '../../features/jobs/rows/order.ts'
import { useKeys } from '../../ground/keys.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { Button } from '../../parts/button.tsx'
import { ColumnChoice } from './column-choice.tsx'
import styles from './jobs.module.css'
import { SavedViewsMenu } from './saved-views-menu.tsx'

interface ListBarProps {
  search: JobsSearch
  problems: readonly FilterProblem[]
}

/** The bar with the filter, the saved views and the choice of columns. */
export function ListBar({ search, problems }: ListBarProps) {
  const navigate = useNavigate()
  const field = useRef<HTMLInputElement>(null)
  const { order, group, peek: _, ...terms } = search
  const text = formatFilter(terms)
  const setText = (next: string) =>
    void navigate({ to: '/jobs', search: { ...parseFilter(next), order, group }, replace: true })
  useKeys('Filter', [{ keys: '/', help: 'Filter', run: () => field.current?.focus() }])
  return (
    <div className={styles.bar}>
      <FilterField ref={field as Ref<HTMLInputElement>} text={text} problems={problems} onChange={setText} />
      <SavedViewsMenu search={search} />
      <Button
        className={styles.columns ?? ''}
        onClick={() =>
          openLayer({ kind: 'FORM', title: 'Columns', content: (close) => <ColumnChoice onClose={close} /> })
        }
      >
        <Columns3 size={14} />
        Columns
      </Button>
    </div>
  )
}

const groupWords = {
  none: 'No groups',
  user: 'By user',
  label: 'By label',
  pool: 'By pool',
  reason: 'By reason',
} as const

/** The options of the list: order, groups, and a date to go to. */
export function ListOptions({ search }: { search: JobsSearch }) {
  const navigate = useNavigate()
  const change = (next: Partial<JobsSearch>) => void navigate({ to: '/jobs', search: { ...search, ...next } })
  const [group = 'none'] = search.group?.split(':') ?? []
  return (
    <div className={styles.options}>
      <select
        aria-label="Groups"
        value={group in groupWords ? group : 'none'}
        onChange={({ target }) => change({ group: target.value === 'none' ? undefined : target.value })}
      >
        {Object.entries(groupWords).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <select
        aria-label="Order"
        value={readOrder(search.order)}
        onChange={({ target }) => change({ order: target.value === 'newest' ? undefined : target.value })}
      >
        {Object.entries(orders).map(([value, { words }]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <GoToDate until={search.until} onChange={(until) => change({ until })} />
    </div>
  )
}

/** A field that limits the list to jobs submitted up to the end of a day. */
function GoToDate({ until, onChange }: { until: string | undefined; onChange: (until: string | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <span className={styles.date}>
      <Button look="quiet" onClick={() => input.current?.showPicker()}>
        <CalendarDays size={14} />
        Go to date
      </Button>
      <input
        ref={input}
        type="date"
        tabIndex={-1}
        aria-label="Jobs submitted until this day"
        value={until?.match(/^\d{4}-\d\d-\d\d/)?.[0] ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : `${target.value}T23:59`)}
      />
    </span>
  )
}
