import { findFirst, type Rows } from './rows.ts'

const tickPx = 2

/** Ticks at the places that have some of these lines, in as many steps as there are pixels for ticks. */
export function drawTicks(lines: readonly number[], rows: Pick<Rows, 'count' | 'at'>, heightPx: number): string {
  const steps = Math.floor(heightPx / tickPx)
  let path = ''
  for (let step = 0; step < steps && lines.length > 0; step++) {
    const [from, to] = [step, step + 1].map((each) => Math.ceil((each * rows.count) / steps)) as [number, number]
    const next = lines[findFirst(lines, rows.at(from)?.number ?? 0)]
    // Lines of a folded group are ticks of its first line.
    if (to > from && next !== undefined && next < (rows.at(to)?.number ?? Number.POSITIVE_INFINITY))
      path += `M0 ${step * tickPx + tickPx / 2}h8`
  }
  return path
}
