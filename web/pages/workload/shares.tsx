import { Link } from '@tanstack/react-router'
import type { ShareRow } from '../../features/machines/account-shares.ts'
import { findScale, formatShare, ShareBar, useFairShares } from '../../features/machines/fair-shares.tsx'
import { formatCount } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import styles from './shares.module.css'

const accountsShown = 50

/** A table of each account's usage and fair share. */
export function Shares({ pool }: { pool: string }) {
  const { rows: found, failure, read } = useFairShares(pool)
  const rows = found ?? []
  const isPast = rows.some(({ heldLately }) => heldLately !== null)
  return (
    <section aria-labelledby="shares">
      <h2 id="shares">Fair shares</h2>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {found?.length === 0 && <p className={styles.faint}>No account has running or waiting jobs.</p>}
      {rows.length > 0 && (
        <>
          <Table
            label="Fair shares"
            rows={rows.slice(0, accountsShown)}
            getKey={({ account }) => account}
            columns={listColumns(pool, rows, isPast)}
          />
          <p className={styles.faint}>
            How this pool is divided among accounts with jobs here. The mark in a bar is the share due by weight. Within
            a group, the account at the top starts its next job first.
            {rows.length > accountsShown && ` ${formatCount(rows.length - accountsShown)} more accounts are not shown.`}
          </p>
        </>
      )}
    </section>
  )
}

function listColumns(pool: string, rows: readonly ShareRow[], isPast: boolean): Column<ShareRow>[] {
  const toShare = ({ heldLately, heldNow, due }: ShareRow) => ({ held: heldLately ?? heldNow, due })
  const scale = findScale(rows.map(toShare))
  return [
    {
      title: 'Account',
      cell: ({ account, depth }) => (
        <Link
          to="/jobs"
          search={{ pool, account, state: 'active,waiting' }}
          className={styles.account}
          style={{ paddingInlineStart: depth * 16 }}
        >
          {account}
        </Link>
      ),
    },
    {
      title: `${isPast ? 'Lately' : 'Now'}${rows.some(({ due }) => due !== null) ? ', of due' : ''}`,
      cell: (row) => <ShareBar {...toShare(row)} scale={scale} />,
    },
    ...(isPast
      ? [{ title: 'Now', isNumber: true, isSecondary: true, cell: (row: ShareRow) => formatShare(row.heldNow) }]
      : []),
    { title: 'Running', isNumber: true, isSecondary: true, cell: ({ running }) => formatCount(running) },
    { title: 'Waiting', isNumber: true, cell: ({ queued }) => formatCount(queued) },
  ]
}
