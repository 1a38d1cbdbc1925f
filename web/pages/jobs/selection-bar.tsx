import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { BulkAction } from '../../features/jobs/actions/act-on-jobs.ts'
import { bulkVerbs } from '../../features/jobs/actions/bulk-words.ts'
import { confirmBulk, confirmMatching } from '../../features/jobs/actions/confirm-bulk.tsx'
import { type JobRow, jobStore } from '../../features/jobs/rows/job-store.ts'
import type { JobFilter, Permission } from '../../generated/graphql.ts'
import { useKeys } from '../../ground/keys.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { formatCount } from '../../parts/format.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './jobs.module.css'

const actions: readonly { action: BulkAction; key: string; permissions: readonly Permission[] }[] = [
  { action: 'CANCEL', key: 'c', permissions: ['JOB_CANCEL_OWN', 'JOB_CANCEL_TEAM', 'JOB_CANCEL_ALL'] },
  { action: 'RETRY', key: 'r', permissions: ['JOB_SUBMIT'] },
  { action: 'SET_PRIORITY', key: 'p', permissions: ['JOB_PRIORITY'] },
  { action: 'DELETE', key: 'Delete', permissions: ['JOB_DELETE_OWN', 'JOB_DELETE_ALL'] },
]
const shortVerbs = { ...bulkVerbs, SET_PRIORITY: 'Priority' }
const comparedMax = 4

const rowsOf = (ids: Iterable<string>, action: BulkAction): readonly JobRow[] =>
  [...ids].flatMap((id) => {
    const row = jobStore.get(id)
    return row?.allowedActions.includes(action) ? [row] : []
  })

/** Binds keys that act on the selected rows or, without a selection, on the focused row. */
export function useActionKeys(selected: ReadonlySet<string>, focusedId: string | null, onDone: () => void): void {
  const ids = selected.size > 0 ? selected : focusedId === null ? [] : [focusedId]
  useKeys(
    'Jobs',
    actions.map(({ action, key }) => ({
      keys: key,
      help: `${shortVerbs[action]}: the selected jobs, or the row`,
      run: () => {
        const rows = rowsOf(ids, action)
        if (rows.length > 0) confirmBulk(action, rows, onDone)
      },
    })),
  )
}

interface SelectionBarProps {
  selected: ReadonlySet<string>
  filter: JobFilter
  /** Number of jobs that match the filter, counted by the server; null: not read yet. */
  matching: { count: number; isExact: boolean } | null
  onClear: () => void
}

/** Buttons for actions on the selected rows, or on all jobs that match the filter. */
export function SelectionBar({ selected, filter, matching, onClear }: SelectionBarProps) {
  const [isMatching, setMatching] = useState(false)
  const { viewer } = useStart()
  useKeys('Selection', [{ keys: 'Escape', help: 'Select nothing', run: onClear }])
  const ids = [...selected]
  const mayHaveMore = matching === null || matching.count > selected.size || !matching.isExact
  return (
    <div className={styles.selection} role="toolbar" aria-label="Selected jobs">
      <strong>
        {isMatching
          ? `All ${matching ? `${formatCount(matching.count)}${matching.isExact ? '' : '+'} ` : ''}that match`
          : `${formatCount(selected.size)} selected`}
      </strong>
      {actions.map(({ action, permissions }) => {
        const rows = isMatching ? [] : rowsOf(selected, action)
        const isPossible = isMatching ? permissions.some((each) => viewer.permissions.includes(each)) : rows.length > 0
        if (!isPossible) return null
        return (
          <Button
            key={action}
            onClick={() =>
              isMatching ? void confirmMatching(action, filter, onClear) : confirmBulk(action, rows, onClear)
            }
          >
            {shortVerbs[action]}
            {!isMatching && rows.length < selected.size && ` ${rows.length}`}
          </Button>
        )
      })}
      {!isMatching && ids.length >= 2 && ids.length <= comparedMax && (
        <Link to="/jobs/compare" search={{ ids: ids.join(',') }} className={styles.linkButton}>
          Compare
        </Link>
      )}
      {!isMatching && (
        <Button
          onClick={() => void copyText(ids.join('\n')).then(() => showToast(`Copied ${formatCount(ids.length)} ids`))}
        >
          Copy ids
        </Button>
      )}
      {mayHaveMore && !isMatching && (
        <Button look="quiet" onClick={() => setMatching(true)}>
          Select all {matching ? `${formatCount(matching.count)}${matching.isExact ? '' : '+'} ` : ''}that match
        </Button>
      )}
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}
