/** The window of a capacity reservation. It includes `startsMs` and excludes `endsMs`. */

export interface Window {
  startsMs: number
  endsMs: number
}

export function getWindowState({ startsMs, endsMs }: Window, atMs: number): 'AHEAD' | 'OPEN' | 'OVER' {
  if (endsMs <= atMs) return 'OVER'
  return startsMs <= atMs ? 'OPEN' : 'AHEAD'
}

/** SQL condition on capacity_reservation: the window has not ended. */
export const windowNotOverSql = 'ends_at > berth_now()'

/**
 * Lists nodes that a job without a reservation cannot use if it starts at `atMs`: a window on them begins before the
 * job ends and is not over.
 */
export function listClosedNodes(
  reservations: readonly (Window & { nodes: readonly string[] })[],
  { atMs, runSeconds }: { atMs: number; runSeconds: number | null },
): ReadonlySet<string> {
  const endsMs = runSeconds === null ? Number.POSITIVE_INFINITY : atMs + runSeconds * 1_000
  return new Set(
    reservations
      .filter((window) => getWindowState(window, atMs) !== 'OVER' && window.startsMs < endsMs)
      .flatMap(({ nodes }) => nodes),
  )
}
