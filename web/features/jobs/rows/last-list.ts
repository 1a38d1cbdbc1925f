/** Job ids of the last list that was shown, for the keys that open the previous or next job. */
let lastIds: readonly string[] = []

export const rememberList = (ids: readonly string[]): void => {
  lastIds = ids
}

/** Returns the id of the next or previous job; null: the list ends there, or does not have the job `id`. */
export function findNeighbor(id: string, by: 1 | -1): string | null {
  const index = lastIds.indexOf(id)
  return index === -1 ? null : (lastIds[index + by] ?? null)
}
