/** The window of a capacity reservation. Its start belongs to the window, its end does not. */

export interface Window {
  startsMs: number
  endsMs: number
}

export function windowState({ startsMs, endsMs }: Window, atMs: number): 'AHEAD' | 'OPEN' | 'OVER' {
  if (endsMs <= atMs) return 'OVER'
  return startsMs <= atMs ? 'OPEN' : 'AHEAD'
}

/** For rows of capacity_reservation: the window is open or ahead. */
export const windowNotOverSql = 'ends_at > berth_now()'

/** Nodes whose window begins before a job without reservation ends that starts at `atMs`, and is not over. */
export function closedNodes(
  reservations: readonly (Window & { nodes: readonly string[] })[],
  { atMs, runSeconds }: { atMs: number; runSeconds: number | null },
): ReadonlySet<string> {
  const endsMs = runSeconds === null ? Number.POSITIVE_INFINITY : atMs + runSeconds * 1_000
  return new Set(
    reservations
      .filter((window) => windowState(window, atMs) !== 'OVER' && window.startsMs < endsMs)
      .flatMap(({ nodes }) => nodes),
  )
}
