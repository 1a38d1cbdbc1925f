interface FittedColumn {
  key: string
  /** The width as a CSS grid track. Its first number is the minimum width in pixels. */
  track: string
  /** Columns with the highest rank are hidden first; 0: never hidden. */
  rank: number
}

const gap = 12
const checkWidth = 28
const padding = 28

/** Returns the chosen columns that fit into the width, in the order of the list. */
export function fitColumns<Column extends FittedColumn>(
  columns: readonly Column[],
  chosen: ReadonlySet<string>,
  width: number,
): readonly Column[] {
  let shown = columns.filter(({ key, rank }) => rank === 0 || chosen.has(key))
  const need = () => shown.reduce((sum, { track }) => sum + Number(track.match(/\d+/)) + gap, checkWidth + padding)
  while (need() > width) {
    const rankMax = Math.max(...shown.map(({ rank }) => rank))
    if (rankMax === 0) break
    shown = shown.filter(({ rank }) => rank !== rankMax)
  }
  return shown
}
