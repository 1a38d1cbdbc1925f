import type { ReactNode } from 'react'

/** A wide table scrolls in a box of its own, also by keyboard. */
export const ScrollBox = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
  <section style={{ overflowX: 'auto' }} aria-label={label} tabIndex={0}>
    {children}
  </section>
)
