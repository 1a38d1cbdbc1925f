import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useKeys } from '../ground/keys.ts'
import { Button } from './button.tsx'
import styles from './side-panel.module.css'

interface SidePanelProps {
  title: ReactNode
  /** Buttons in the head, beside the close button. */
  actions?: ReactNode
  children: ReactNode
  onClose: () => void
}

/** A panel beside a list that stays usable. On a phone it covers the page. Escape closes it. */
export function SidePanel({ title, actions, children, onClose }: SidePanelProps) {
  useKeys('Panel', [{ keys: 'Escape', help: 'Close the panel', run: onClose }])
  return (
    <aside className={styles.panel} aria-label="Details">
      <header className={styles.head}>
        <h2>{title}</h2>
        {actions}
        <Button look="quiet" aria-label="Close" onClick={onClose}>
          <X size={16} />
        </Button>
      </header>
      <div className={styles.content}>{children}</div>
    </aside>
  )
}

/** A list with an optional panel at its right. They scroll separately. */
export const WithPanel = ({ children, panel }: { children: ReactNode; panel: ReactNode }) => (
  <div className={styles.split}>
    <div className={styles.list}>{children}</div>
    {panel}
  </div>
)
