import type { ReactNode } from 'react'
import styles from './scroll-box.module.css'

/** A wide table scrolls in a box of its own, also by keyboard. */
export const ScrollBox = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
  <section className={styles.box} aria-label={label} tabIndex={0}>
    {children}
  </section>
)
