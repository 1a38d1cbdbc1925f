import DataLoader from 'dataloader'
import { NotFound } from '../../domain/errors.ts'
import type { JobSpec } from '../../domain/spec.ts'
import type { Sql } from '../../platform/tx.ts'
import { limits } from '../caller-limits.ts'
import { refusal } from '../errors.ts'

/**
 * Reads specs separately from jobs: a spec may have 4 MiB, and sixty such specs would block the server for seconds. One
 * response contains specs up to `specBytesMax` in total, or a single spec of any size. Every alias counts.
 */

export type Specs = ReturnType<typeof createSpecs>

export interface SpecWords {
  labels: JobSpec['labels']
  maxAttempts: number | null
  /** The requested resources; null: the job was deleted. */
  resources: JobSpec['resources'] | null
  /** Maximum run time; 0: unlimited. */
  maxRunTimeSeconds: number
  capacityReservationId: string | null
  hasOutputs: boolean
}

interface SpecText {
  /** The spec as JSON; null: the response would exceed the limit. */
  text: string | null
  bytes: number
}

/** Specs per statement: PostgreSQL unpacks a spec to measure it. */
const specsPerRead = 16

export function createSpecs(sql: Sql) {
  const texts = new DataLoader<string, SpecText | null>((ids) => readTexts(sql, ids))
  let shownBytes = 0
  return {
    /**
     * Loads a spec, or refuses if the response would exceed the limit. `times`: how often the request selects the spec.
     */
    async load(jobId: string, times: number): Promise<JobSpec> {
      const found = await texts.load(jobId)
      if (!found) throw new NotFound('The object was deleted meanwhile')
      const isSingle = shownBytes === 0 && times === 1
      shownBytes += found.bytes * times
      if (found.text === null || (shownBytes > limits.specBytesMax && !isSingle)) throw tooMany()
      return JSON.parse(found.text) as JobSpec
    },
    /** The few fields of specs that lists show; they do not count toward the limit. */
    words: new DataLoader<string, SpecWords>((ids) => readWords(sql, ids)),
  }
}

const tooMany = () =>
  refusal(
    'QUERY_TOO_COMPLEX',
    `The specs of this request exceed ${limits.specBytesMax} bytes; request shorter pages or one job at a time`,
  )

/** Reads texts in order up to the limit; null: the job was deleted. */
async function readTexts(sql: Sql, ids: readonly string[]): Promise<(SpecText | null)[]> {
  const found = new Map<string, SpecText>()
  let bytes = 0
  for (let from = 0; from < ids.length && bytes <= limits.specBytesMax; from += specsPerRead) {
    const rows = await sql.query<SpecText & { id: string }>(
      textsSql,
      [ids.slice(from, from + specsPerRead), limits.specBytesMax - bytes],
      'spec_texts',
    )
    for (const row of rows) found.set(row.id, row)
    bytes += rows.reduce((sum, row) => sum + row.bytes, 0)
  }
  const isWhole = bytes <= limits.specBytesMax
  return ids.map((id) => found.get(id) ?? (isWhole ? null : unreadText))
}

const unreadText: SpecText = { text: null, bytes: 0 }

/** Returns a text only if the texts before it are within the limit. */
const textsSql = `
SELECT id, CASE WHEN before <= $2::bigint THEN text END AS text, bytes FROM (
  SELECT id, text, octet_length(text) AS bytes, place,
    coalesce(sum(octet_length(text)) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
  FROM (SELECT j.id, j.spec::text AS text, w.place FROM unnest($1::text[]) WITH ORDINALITY AS w(id, place)
    JOIN job j ON j.id = w.id) each
) counted ORDER BY place`

const deletedWords: SpecWords = {
  labels: [],
  maxAttempts: null,
  resources: null,
  maxRunTimeSeconds: 0,
  capacityReservationId: null,
  hasOutputs: false,
}

async function readWords(sql: Sql, ids: readonly string[]): Promise<SpecWords[]> {
  const rows = await sql.query<SpecWords & { id: string }>(
    `SELECT id, spec->'labels' AS labels, (spec->'retry'->>'maxAttempts')::int AS "maxAttempts", spec->'resources' AS resources,
       (spec->>'maxRunTimeSeconds')::float8 AS "maxRunTimeSeconds", spec->>'capacityReservationId' AS "capacityReservationId",
       coalesce(jsonb_array_length(spec->'outputs') > 0, false) AS "hasOutputs"
     FROM job WHERE id = ANY($1::text[])`,
    [ids],
    'spec_words',
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => found.get(id) ?? deletedWords)
}
