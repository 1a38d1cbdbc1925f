import { useState } from 'react'
import { confirmCancel } from '../../actions/cancel-jobs.ts'
import { confirmCancelMatching } from '../../actions/cancel-matching.ts'
import { useKeys } from '../../app/keys.ts'
import type { JobFilter } from '../../generated/graphql.ts'
import { Button } from '../../parts/button.tsx'
import { formatCount } from '../../parts/format.ts'
import { jobStore } from '../../rows/job-store.ts'
import styles from './jobs.module.css'

interface SelectionBarProps {
  selected: ReadonlySet<string>
  filter: JobFilter
  /** All rows that were read are selected, and there are more. */
  mayHaveMore: boolean
  onClear: () => void
}

/** Acts on the selected rows, or on the server on everything that matches. */
export function SelectionBar({ selected, filter, mayHaveMore, onClear }: SelectionBarProps) {
  const [isMatching, setMatching] = useState(false)
  const rows = [...selected].flatMap((id) => jobStore.get(id) ?? [])
  const cancellable = rows.filter(({ allowedActions }) => allowedActions.includes('CANCEL'))
  const mayCancel = isMatching || cancellable.length > 0
  const cancel = () => {
    if (isMatching) void confirmCancelMatching(filter, onClear)
    else if (mayCancel) confirmCancel(cancellable, onClear)
  }
  useKeys('Selection', [
    { keys: 'c', help: 'Cancel the selected jobs', run: cancel },
    { keys: 'Escape', help: 'Select nothing', run: onClear },
  ])
  const isPart = !isMatching && cancellable.length > 0 && cancellable.length < rows.length
  return (
    <div className={styles.selection} role="toolbar" aria-label="Selected jobs">
      <strong>{isMatching ? 'All that match' : `${formatCount(selected.size)} selected`}</strong>
      <Button disabled={!mayCancel} onClick={cancel}>
        {isPart ? `Cancel ${cancellable.length}` : 'Cancel'}
      </Button>
      {!isMatching && (
        <Button onClick={() => void navigator.clipboard.writeText([...selected].join('\n'))}>Copy ids</Button>
      )}
      {mayHaveMore && !isMatching && (
        <Button look="quiet" onClick={() => setMatching(true)}>
          Select all that match
        </Button>
      )}
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}
