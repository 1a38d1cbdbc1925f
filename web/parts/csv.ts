import { saveFile } from './save-file.ts'

type Cell = string | number | null

const quote = (cell: Cell) => {
  const text = cell === null ? '' : String(cell)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Formats rows as CSV (RFC 4180). */
export const toCsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')

export function downloadCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  saveFile(`${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.csv`, toCsv(rows), 'text/csv')
}

/** Parses the first `rowsMax` rows of a CSV text (RFC 4180). */
export function parseCsv(text: string, rowsMax: number): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [whole, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|\r|$)/g)) {
    if (whole === '' && row.length === 0) continue
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    rows.push(row)
    row = []
    if (rows.length === rowsMax) break
  }
  return rows
}
