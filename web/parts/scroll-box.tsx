import type { ReactNode } from 'react'

/** A box in which a wide table scrolls horizontally, also by keyboard. */
export const ScrollBox = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: users scroll the box by keyboard
  <section style={{ overflowX: 'auto' }} aria-label={label} tabIndex={0}>
    {children}
  </section>
)
