import { PoolSharesDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { formatTenth } from '../../parts/format.ts'
import { listShares } from './account-shares.ts'
import styles from './fair-shares.module.css'

const readMs = 10_000
export const formatShare = (part: number): string => `${formatTenth(100 * part)} %`

/** Reads the accounts of a pool as a tree; `rows` is undefined until they are read. */
export function useFairShares(pool: string) {
  const isWhole = useMay()('JOB_VIEW_ALL')
  const { value, failure, read } = useQuery(PoolSharesDocument, { pool }, { everyMs: readMs })
  return { rows: value && listShares(value.pool?.accounts ?? [], isWhole), failure, read }
}

/** Returns the largest value of the bars, for their common scale. */
export const findScale = (bars: readonly Share[]): number =>
  Math.max(...bars.map(({ held, due }) => Math.max(held, due ?? 1)), Number.MIN_VALUE)

const toWidth = (part: number, scale: number) => `${(100 * part) / scale}%`

export interface Share {
  held: number
  /** The fair share; null: unknown, because the viewer does not see the other accounts. */
  due: number | null
}

/** "12 % of 25 %": the usage as a bar, with a line at the fair share. */
export const ShareBar = ({ held, due, scale }: Share & { scale: number }) => (
  <span className={styles.share}>
    <span className={styles.bar} aria-hidden="true">
      <span className={styles.held} style={{ width: toWidth(held, scale) }} />
      {due !== null && <span className={styles.due} style={{ insetInlineStart: toWidth(due, scale) }} />}
    </span>
    <span className={styles.text}>
      {formatShare(held)}
      {due !== null && ` of ${formatShare(due)}`}
    </span>
  </span>
)
