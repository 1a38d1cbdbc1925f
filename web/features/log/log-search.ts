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
  /** Numbers of the matching lines, ascending. The array grows in place. */
  lines: readonly number[]
  count: number
  scannedBytes: number
  /** true: the whole log was searched. */
  isComplete: boolean
  /** true: there are more matches than `lines` can hold. */
  isCut: boolean
  /** Where the search continues after the log has grown. */
  cursor: string | null
  failure: RequestFailed | null
}

/** Finds lines with words such as "error". */
export const errorQuery: Query = {
  text: 'error|exception|traceback|fatal|panic|segmentation fault|out of memory',
  isRegex: true,
  ignoreCase: true,
  streams: allStreams,
}
/** The regular expression that matches every line. */
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
  /** The result of an earlier search, to continue in the lines that came later. */
  before?: Found | undefined
}

/** Searches the log on the server in steps, and yields the result so far after each step. */
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
      // A line that was open at the last step may match again.
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
 * Finds the next or previous match from a line, and wraps around at the end of the log. UNKNOWN: the search has not
 * reached that part yet. undefined: there is no match.
 */
export function findMatch(found: Found, from: number, direction: 1 | -1): number | 'UNKNOWN' | undefined {
  const { lines, isComplete, isCut, failure } = found
  const next = direction === 1 ? lines[findFirst(lines, from + 1)] : lines[findFirst(lines, from) - 1]
  const isEnded = isComplete || isCut || failure !== null
  if (!isEnded && (next === undefined || (lines.at(-1) ?? 0) < from)) return 'UNKNOWN'
  return next ?? lines.at(direction === 1 ? 0 : -1)
}

/** Makes the regular expression that highlights matches; null: JavaScript does not support the expression. */
export function toHighlighter({ text, isRegex, ignoreCase }: Query): RegExp | null {
  try {
    return new RegExp(isRegex ? text : RegExp.escape(text), ignoreCase ? 'gi' : 'g')
  } catch {
    return null
  }
}

/** Splits a text at its matches. Every second piece is a match. */
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
