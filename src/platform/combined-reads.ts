import { createHash } from 'node:crypto'
import type { Sql } from './tx.ts'

/**
 * Combines independent reads into one round trip: the queries of one turn of the event loop become one statement with a
 * JSON column for each, so rows must be JSON values. While requests keep the event loop busy, a round
 * trip costs milliseconds.
 */

export function combineReads(sql: Sql): Sql {
  let asked: Asked[] = []

  function send() {
    const batch = asked
    asked = []
    ask(sql, batch).then(
      (answers) => {
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index] ?? [])
      },
      (error: unknown) => {
        for (const { reject } of batch) reject(error)
      },
    )
  }

  return {
    query: <Row>(text: string, values: readonly unknown[] = [], name?: string) =>
      new Promise<Row[]>((resolve, reject) => {
        if (asked.length === 0) queueMicrotask(send)
        asked.push({ text, values, name, resolve: (rows) => resolve(rows as Row[]), reject })
      }),
  }
}

interface Asked {
  text: string
  values: readonly unknown[]
  name: string | undefined
  resolve: (rows: unknown[]) => void
  reject: (error: unknown) => void
}

async function ask(sql: Sql, batch: readonly Asked[]): Promise<unknown[][]> {
  const [only] = batch
  if (batch.length === 1 && only) return [await sql.query(only.text, only.values, only.name)]
  const columns = batch.map(({ text }, index) => {
    const offset = batch.slice(0, index).reduce((sum, { values }) => sum + values.length, 0)
    const moved = text.replaceAll(/\$(\d+)/g, (_, place) => `$${Number(place) + offset}`)
    return `(SELECT coalesce(jsonb_agg(to_jsonb(q)), '[]') FROM (${moved}) q) AS "${index}"`
  })
  const values = batch.flatMap((one) => one.values)
  const name = batch.every((one) => one.name) ? nameOf(batch.map((one) => one.name).join('_')) : undefined
  const [row] = await sql.query<Record<number, unknown[]>>(`SELECT ${columns.join(', ')}`, values, name)
  return batch.map((_, index) => row?.[index] ?? [])
}

/** PostgreSQL truncates statement names to this length, so two long names with the same beginning would collide. */
const nameBytesMax = 63
const hashDigits = 16

function nameOf(joined: string): string {
  if (joined.length <= nameBytesMax) return joined
  const hash = createHash('sha256').update(joined).digest('hex').slice(0, hashDigits)
  return `${joined.slice(0, nameBytesMax - hashDigits - 1)}_${hash}`
}
