import { Link } from '@tanstack/react-router'
import { PoolSharesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { formatCount } from '../../parts/format.ts'
import { FailedInline } from '../../parts/page-states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { listShares, type ShareRow } from './account-shares.ts'
import styles from './shares.module.css'

const readMs = 10_000
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const accountsShown = 50

/** Who holds how much of the pool, and what is due to each. */
export function Shares({ pool }: { pool: string }) {
  const { value, failure, read } = useResource(
    `shares ${pool}`,
    async (signal) => (await client.request(PoolSharesDocument, { pool }, { signal })).pool?.accounts ?? [],
    { everyMs: readMs },
  )
  const rows = listShares(value ?? [])
  const isPast = rows.some(({ heldLately }) => heldLately !== null)
  return (
    <section aria-labelledby="shares">
      <h2 id="shares">Fair shares</h2>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {value?.length === 0 && <p className={styles.faint}>No account has running or waiting jobs.</p>}
      {rows.length > 0 && (
        <>
          <Table
            label="Fair shares"
            rows={rows.slice(0, accountsShown)}
            getKey={({ account }) => account}
            columns={listColumns(pool, rows, isPast)}
          />
          <p className={styles.faint}>
            Parts of the pool among the accounts that have jobs here; the line in a bar is what is due by the weights.
            The account that is first among its neighbours starts next.
            {rows.length > accountsShown && ` ${formatCount(rows.length - accountsShown)} more accounts are not shown.`}
          </p>
        </>
      )}
    </section>
  )
}

function listColumns(pool: string, rows: readonly ShareRow[], isPast: boolean): Column<ShareRow>[] {
  const read = ({ heldLately, heldNow }: ShareRow) => heldLately ?? heldNow
  const scale = Math.max(...rows.map((row) => Math.max(read(row), row.due)), Number.MIN_VALUE)
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
      title: isPast ? 'Lately, of due' : 'Now, of due',
      cell: (row) => <ShareBar held={read(row)} due={row.due} scale={scale} />,
    },
    ...(isPast
      ? [{ title: 'Now', isNumber: true, isSecondary: true, cell: (row: ShareRow) => percent.format(row.heldNow) }]
      : []),
    { title: 'Running', isNumber: true, isSecondary: true, cell: ({ running }) => formatCount(running) },
    { title: 'Waiting', isNumber: true, cell: ({ queued }) => formatCount(queued) },
  ]
}

const toWidth = (part: number, scale: number) => `${(100 * part) / scale}%`

/** "12 % of 25 %", with a bar and a line at what is due. */
const ShareBar = ({ held, due, scale }: { held: number; due: number; scale: number }) => (
  <span className={styles.share}>
    <span className={styles.bar} aria-hidden="true">
      <span className={styles.held} style={{ width: toWidth(held, scale) }} />
      <span className={styles.due} style={{ insetInlineStart: toWidth(due, scale) }} />
    </span>
    <span className={styles.text}>
      {percent.format(held)} of {percent.format(due)}
    </span>
  </span>
)
