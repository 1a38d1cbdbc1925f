import { hash } from 'node:crypto'
import { z } from 'zod'
import { refusal } from '../errors.ts'

/**
 * Cursors are opaque to clients: base64url of JSON `{v, k, …}` with `v` the format version and `k` the kind. They are
 * unsigned because they grant no access. Cursors contain no process state, so they survive restarts.
 *
 *   list  l: name and order of the list · f: hash of the filter · key: sort key of the row, as text  (keyset.ts compares them)
 *   seq   j: job · s: number of the last event · m: mark of the event  (jobStatus, Job.events)
 *   pos   p: position in the feed over all jobs · m: mark of the position · t: time of the newest progress  (jobUpdates)
 *   nodes o: pool · h: hash of its nodes  (nodeUpdates)
 *   log   j: job · r: run number · o: byte offset in that run · m: mark of the run  (Job.logs, tail)
 */

const version = 1
const natural = z.int().min(0)
const mark = z.string().optional()
const head = <Name extends string>(name: Name) => ({ v: z.literal(version), k: z.literal(name) })

const kinds = {
  list: z.strictObject({ ...head('list'), l: z.string(), f: z.string(), key: z.array(z.string()) }),
  seq: z.strictObject({ ...head('seq'), j: z.string(), s: natural, m: mark }),
  pos: z.strictObject({ ...head('pos'), p: natural, m: mark, t: natural.optional() }),
  nodes: z.strictObject({ ...head('nodes'), o: z.string(), h: z.string() }),
  log: z
    .strictObject({ ...head('log'), j: z.string(), r: z.int32().min(1), o: natural, m: mark })
    // Only the start of a run has no mark.
    .refine(({ o, m }) => o === 0 || m !== undefined),
}

type Kind = keyof typeof kinds
type Content<K extends Kind> = Omit<z.output<(typeof kinds)[K]>, 'v' | 'k'>

const textMax = 2_048

export const encodeCursor = <K extends Kind>(kind: K, content: Content<K>): string =>
  Buffer.from(JSON.stringify({ v: version, k: kind, ...content })).toString('base64url')

export function decodeCursor<K extends Kind>(kind: K, cursor: string): z.output<(typeof kinds)[K]> {
  const parsed = kinds[kind].safeParse(readJson(cursor))
  if (!parsed.success) throw invalidCursor()
  // safeParse checked this schema; the compiler cannot narrow the union over K.
  return parsed.data as z.output<(typeof kinds)[K]>
}

export const invalidCursor = () => refusal('INVALID_CURSOR', 'Invalid cursor: it belongs to another list or stream')

function readJson(cursor: string): unknown {
  if (cursor.length > textMax || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw invalidCursor()
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidCursor()
    throw error
  }
}

/** Hashes equal filters to the same text, whatever the order of their keys. */
export const hashFilter = (filter: unknown): string =>
  hash('sha256', JSON.stringify(canonicalize(filter ?? null)), 'base64url').slice(0, 12)

function canonicalize(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(canonicalize)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, canonicalize(inner)])
}
