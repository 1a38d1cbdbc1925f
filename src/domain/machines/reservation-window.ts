/** The window of a capacity reservation. Its start belongs to the window, its end does not. */

export interface Window {
  startsMs: number
  endsMs: number
}

export type WindowState = 'AHEAD' | 'OPEN' | 'OVER'

export function windowState({ startsMs, endsMs }: Window, atMs: number): WindowState {
  if (endsMs <= atMs) return 'OVER'
  return startsMs <= atMs ? 'OPEN' : 'AHEAD'
}

/** For rows of capacity_reservation: the window is open or ahead. */
export const windowNotOverSql = 'ends_at > berth_now()'

/** A job without a reservation that starts at this time. */
export interface Passing {
  atMs: number
  /** null: without end. */
  runSeconds: number | null
}

/** Nodes whose window begins before the job ends, and is not over. */
export function closedNodes(
  reservations: readonly (Window & { nodes: readonly string[] })[],
  { atMs, runSeconds }: Passing,
): ReadonlySet<string> {
  const endsMs = runSeconds === null ? Number.POSITIVE_INFINITY : atMs + runSeconds * 1_000
  return new Set(
    reservations
      .filter((window) => windowState(window, atMs) !== 'OVER' && window.startsMs < endsMs)
      .flatMap(({ nodes }) => nodes),
  )
}
