export interface VisibleRows {
  from: number
  to: number
}

/** Rows drawn above and below those in sight. */
export const rowsAround = 10
/** Rows enter and leave in groups, so that not every scrolled row draws the table again. */
const group = 6

interface Rows {
  count: number
  height: number
  around?: number
}

/** Rows of fixed height to draw: those in sight, and some around them. */
export function findVisible(top: number, boxHeight: number, { count, height, around = rowsAround }: Rows): VisibleRows {
  const first = Math.floor(top / height / group) * group - around
  const last = Math.ceil((top + boxHeight) / height / group) * group + around
  const to = Math.max(0, Math.min(count, last))
  return { from: Math.max(0, Math.min(first, to)), to }
}
