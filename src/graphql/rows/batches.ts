import DataLoader from 'dataloader'

type Read<Row> = (keys: string[]) => Promise<readonly Row[]>

/** Creates a loader of rows by a unique column; null: the row is missing. */
export function byKey<Column extends string, Row extends Record<Column, string>>(column: Column, read: Read<Row>) {
  return new DataLoader<string, Row | null>(async (keys) => {
    const rows = new Map<string, Row>((await read([...keys])).map((row) => [row[column], row]))
    return keys.map((key) => rows.get(key) ?? null)
  })
}

export const byId = <Row extends { id: string }>(read: Read<Row>) => byKey('id', read)

/** Creates a loader of all rows with the same value in a column. */
export function byParent<Column extends string, Row extends Record<Column, string>>(column: Column, read: Read<Row>) {
  return new DataLoader<string, Row[]>(async (parents) => {
    const rows = Map.groupBy<string, Row>(await read([...parents]), (row) => row[column])
    return parents.map((parent) => rows.get(parent) ?? [])
  })
}
