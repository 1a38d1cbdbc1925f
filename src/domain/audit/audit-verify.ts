import { readNow } from '../../platform/database-time.ts'
import type { Db } from '../../platform/db.ts'
import { readLines } from '../../platform/lines.ts'
import { demandToRead, type Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import {
  type ChainedFields,
  chainedColumns,
  firstPreviousHash,
  type Head,
  hashEntry,
  parseHeadLine,
} from './audit-chain.ts'

/**
 * Recomputes every hash of a range. Detects changed, missing and inserted entries and entries that stay unchained for
 * more than 10 s. By the heads that are stored outside the database it also detects missing newest entries and a
 * rewritten log.
 */

export interface Range {
  fromSeq?: number | null | undefined
  /** Entries between the newest one and `toSeq` count as missing. */
  toSeq?: number | null | undefined
}

export interface Verification {
  ok: boolean
  fromSeq: number
  toSeq: number
  headSeq: number
  /** Number of the first bad entry; null: the log is intact, or the problem is not in a single entry. */
  firstBadSeq: number | null
  message: string | null
}

interface Trouble {
  seq: number | null
  message: string
}

const pageSize = 1_000
const unchainedSecondsMax = 10

export async function verifyAudit(
  { db, auditHeadFile }: Pick<Domain, 'db' | 'auditHeadFile'>,
  viewer: Viewer,
  { fromSeq, toSeq }: Range = {},
): Promise<Verification> {
  demandToRead(viewer, 'audit.read')
  const heads = await readHeads(auditHeadFile ?? null)
  const [known] = await db.sql.query<Head & { newest: number }>(
    'SELECT seq, hash, coalesce((SELECT max(seq) FROM audit_entry), 0) AS newest FROM audit_head',
  )
  if (!known) throw new Error('The head of the audit log is missing')
  const from = fromSeq ?? 1
  const to = toSeq ?? Math.max(known.seq, known.newest)
  if (from < 1 || (toSeq != null && toSeq < from)) throw InvalidInput.at('fromSeq', 'Must be 1 … toSeq')
  // If the file has two heads with the same number, the first one counts. The second was recorded after the log was rewritten.
  const expected = new Map(heads instanceof Error ? [] : heads.toReversed().map(({ seq, hash }) => [seq, hash]))
  if (known.seq > 0 && !expected.has(known.seq)) expected.set(known.seq, known.hash)
  const trouble =
    (await verifyRange(db, from, to, expected)) ??
    findMissingEnd(known, heads) ??
    (known.seq > 0 && known.hash !== expected.get(known.seq)
      ? { seq: known.seq, message: 'The newest entry does not match the head recorded outside the database' }
      : null) ??
    (await findUnchained(db))
  return {
    ok: trouble === null,
    fromSeq: from,
    toSeq: to,
    headSeq: Math.max(known.seq, known.newest),
    firstBadSeq: trouble?.seq ?? null,
    message: trouble?.message ?? null,
  }
}

/** `expected`: hashes by number of the entry, from the head file and of the newest head in the database. */
async function verifyRange(
  db: Pick<Db, 'sql' | 'prisma'>,
  from: number,
  to: number,
  expected: ReadonlyMap<number, string>,
): Promise<Trouble | null> {
  let before = await hashBefore(db, from)
  if (before === null) return { seq: from, message: `The entry ${from - 1} before it is missing` }
  for (let next = from; next <= to; ) {
    const page = await db.sql.query<ChainedFields & Head>(
      `SELECT ${chainedColumns}, a.seq, a.hash FROM audit_entry a WHERE a.seq >= $1 AND a.seq <= $2 ORDER BY a.seq LIMIT $3`,
      [next, to, pageSize],
    )
    for (const entry of page) {
      const trouble = findMismatch(entry, { next, before, expected })
      if (trouble) return trouble
      before = entry.hash
      next++
    }
    if (page.length < pageSize && next <= to) return { seq: next, message: `The entry ${next} is missing` }
  }
  return null
}

function findMismatch(
  entry: ChainedFields & Head,
  { next, before, expected }: { next: number; before: string; expected: ReadonlyMap<number, string> },
): Trouble | null {
  if (entry.seq !== next) return { seq: next, message: `The entry ${next} is missing` }
  if (entry.hash !== hashEntry(before, next, entry))
    return { seq: next, message: `The entry ${next} or the entry before it was changed` }
  if (entry.hash !== (expected.get(next) ?? entry.hash))
    return {
      seq: next,
      message: `The log up to ${next} was rewritten: its hash differs from the one recorded before`,
    }
  return null
}

async function hashBefore({ prisma }: Pick<Db, 'prisma'>, seq: number): Promise<string | null> {
  if (seq === 1) return firstPreviousHash
  const entry = await prisma.auditEntry.findFirst({ where: { seq: seq - 1 } })
  return entry?.hash ?? null
}

function findMissingEnd({ seq, newest }: Head & { newest: number }, heads: readonly Head[] | Error): Trouble | null {
  if (heads instanceof Error)
    return { seq: null, message: `Cannot read the audit log heads recorded outside the database: ${heads.message}` }
  if (newest > seq) return { seq: seq + 1, message: `The entry ${seq + 1} was inserted after the recorded head` }
  const recorded = heads.reduce((most, head) => Math.max(most, head.seq), seq)
  return recorded > newest
    ? { seq: newest + 1, message: `The entry ${newest + 1} is missing; ${recorded} entries were recorded` }
    : null
}

async function findUnchained({ sql, prisma }: Pick<Db, 'sql' | 'prisma'>): Promise<Trouble | null> {
  const before = new Date((await readNow(sql)).getTime() - unchainedSecondsMax * 1_000)
  const entry = await prisma.auditEntry.findFirst({
    where: { seq: null, at: { lt: before } },
    orderBy: { at: 'asc' },
  })
  if (!entry) return null
  return {
    seq: null,
    message: `The entry ${entry.id} is older than ${unchainedSecondsMax} s and still not in the hash chain`,
  }
}

async function readHeads(path: string | null): Promise<Head[] | Error> {
  if (path === null) return []
  try {
    return (await readLines(path)).flatMap((line) => parseHeadLine(line) ?? [])
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}
