import { type Client, type RequestFailed, requireField } from '@berth-jobs/berth/client'
import { type LogStream, SearchLogDocument, type SearchLogQueryVariables } from '../../generated/graphql.ts'
import { toFailure } from '../../ground/to-failure.ts'
import { allStreams } from './line-store.ts'
import { findFirst } from './rows.ts'

export interface Query {
  text: string
  isRegex: boolean
  ignoreCase: boolean
  streams: readonly LogStream[]
}

export interface Found {
  /** Numbers of the lines that match, in order. The list grows in place. */
  lines: readonly number[]
  count: number
  scannedBytes: number
  /** The whole log was searched. */
  isComplete: boolean
  /** Not all matches are kept. */
  isCut: boolean
  /** Where a search of a log that has grown goes on. */
  cursor: string | null
  failure: RequestFailed | null
}

/** Lines that sound like trouble. */
export const errorQuery: Query = {
  text: 'error|exception|traceback|fatal|panic|segmentation fault|out of memory',
  isRegex: true,
  ignoreCase: true,
  streams: allStreams,
}
/** Matches every line. */
export const anyText = '^'

export const nothingFound: Found = {
  lines: [],
  count: 0,
  scannedBytes: 0,
  isComplete: false,
  isCut: false,
  cursor: null,
  failure: null,
}

const matchesPerRequest = 1_000
export const linesMax = 1_000_000

interface SearchOptions {
  client: Pick<Client, 'request'>
  jobId: string
  run: number
  query: Query
  signal: AbortSignal
  /** The result so far, of a log that has grown since. */
  before?: Found | undefined
}

/** The server searches; each step reports how far it is. */
export async function* searchLog({ client, jobId, run, query, signal, before }: SearchOptions): AsyncGenerator<Found> {
  const { text, isRegex, ignoreCase, streams } = query
  const lines = [...(before?.lines ?? [])]
  let found: Found = before ?? nothingFound
  const first = matchesPerRequest
  const wanted = { id: jobId, run, query: text, regex: isRegex, ignoreCase, first, streams: [...streams] }
  try {
    do {
      const variables: SearchLogQueryVariables = { ...wanted, after: found.cursor }
      const { job } = await client.request(SearchLogDocument, variables, { attempts: 8, signal })
      if (!job) return
      const { cursor, isComplete, matches, scannedBytes } = requireField(job.logSearch)
      // A line without an end is found again when it has grown.
      for (const { line } of matches) if (line > (lines.at(-1) ?? 0)) lines.push(line)
      found = {
        lines,
        count: lines.length,
        cursor,
        scannedBytes: found.scannedBytes + scannedBytes,
        isComplete,
        isCut: lines.length >= linesMax,
        failure: null,
      }
      yield found
    } while (!found.isComplete && !found.isCut)
  } catch (error) {
    if (signal.aborted) return
    yield { ...found, failure: toFailure(error) }
  }
}

/**
 * The first match after a line, or the last one before it; at an end it begins at the other one. UNKNOWN: the search has
 * not come so far. undefined: there is no match.
 */
export function findMatch(found: Found, from: number, direction: 1 | -1): number | 'UNKNOWN' | undefined {
  const { lines, isComplete, isCut, failure } = found
  const next = direction === 1 ? lines[findFirst(lines, from + 1)] : lines[findFirst(lines, from) - 1]
  const isEnded = isComplete || isCut || failure !== null
  if (!isEnded && (next === undefined || (lines.at(-1) ?? 0) < from)) return 'UNKNOWN'
  return next ?? lines.at(direction === 1 ? 0 : -1)
}

/** For the parts of a line that are drawn as matches; null: a browser cannot read the expression. */
export function toHighlighter({ text, isRegex, ignoreCase }: Query): RegExp | null {
  try {
    return new RegExp(isRegex ? text : RegExp.escape(text), ignoreCase ? 'gi' : 'g')
  } catch {
    return null
  }
}

/** The text in pieces; every second one is a match. */
export function splitMatches(text: string, highlighter: RegExp): readonly string[] {
  const pieces: string[] = []
  let end = 0
  for (const match of text.matchAll(highlighter)) {
    if (match[0] === '') continue
    pieces.push(text.slice(end, match.index), match[0])
    end = match.index + match[0].length
  }
  return [...pieces, text.slice(end)]
}
