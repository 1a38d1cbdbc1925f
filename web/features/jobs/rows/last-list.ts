/** The order of the list that was read last, for the keys to the previous and next job. */
let lastIds: readonly string[] = []

export const rememberList = (ids: readonly string[]): void => {
  lastIds = ids
}

/** null: the list ends there, or did not have the job. */
export function findNeighbor(id: string, by: 1 | -1): string | null {
  const index = lastIds.indexOf(id)
  return index === -1 ? null : (lastIds[index + by] ?? null)
}
