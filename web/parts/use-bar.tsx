import { formatCount } from './format.ts'
import styles from './use-bar.module.css'

const warnFrom = 0.8

interface UseBarProps {
  label: string
  used: number
  /** null: unlimited. */
  limit: number | null
  format?: (value: number) => string
}

/** "7 of 8" with a bar, which warns from 80 % on. */
export function UseBar({ label, used, limit, format = formatCount }: UseBarProps) {
  if (limit === null) return <span className={styles.text}>{format(used)}, unlimited</span>
  const share = limit === 0 ? 1 : used / limit
  return (
    <span className={styles.use} data-look={share > 1 ? 'over' : share >= warnFrom ? 'near' : 'fine'}>
      <meter aria-label={label} min={0} max={Math.max(limit, 1)} value={Math.min(used, Math.max(limit, 1))} />
      <span className={styles.text}>
        {format(used)} of {format(limit)}
      </span>
    </span>
  )
}
