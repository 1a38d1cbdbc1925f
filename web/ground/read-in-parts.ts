/** Reads objects by their ids with several requests, because the number of ids in a request is limited. */
export async function readInParts<Found>(
  ids: readonly string[],
  idsMax: number,
  read: (ids: string[]) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const found: Found[] = []
  for (let at = 0; at < ids.length; at += idsMax) found.push(...(await read(ids.slice(at, at + idsMax))))
  return found
}
