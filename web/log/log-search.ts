import { type Client, RequestFailed } from '@berth-jobs/berth/client'
import { type LogStream, SearchLogDocument, type SearchLogQueryVariables } from '../generated/graphql.ts'

export interface Query {
  text: string
  isRegex: boolean
  ignoreCase: boolean
}

export interface Found {
  query: Query
  /** Numbers of the lines that match, in order. */
  lines: readonly number[]
  scannedBytes: number
  /** The whole log was searched. */
  isComplete: boolean
  /** Not all matches are kept. */
  isCut: boolean
  failure: RequestFailed | null
}

/** Lines that sound like trouble. */
export const errorQuery: Query = {
  text: 'error|exception|traceback|fatal|panic|segmentation fault|out of memory',
  isRegex: true,
  ignoreCase: true,
}

const matchesPerRequest = 1_000
const linesMax = 100_000
const streams: LogStream[] = ['STDOUT', 'STDERR', 'SYSTEM']

interface SearchOptions {
  client: Pick<Client, 'request'>
  jobId: string
  run: number
  query: Query
  signal: AbortSignal
}

/** The server searches; each step tells how far it is. */
export async function* searchLog({ client, jobId, run, query, signal }: SearchOptions): AsyncGenerator<Found> {
  const { text, isRegex, ignoreCase } = query
  let found: Found = { query, lines: [], scannedBytes: 0, isComplete: false, isCut: false, failure: null }
  let after: string | null = null
  const wanted = { id: jobId, run, query: text, regex: isRegex, ignoreCase, first: matchesPerRequest, streams }
  try {
    while (!found.isComplete && !found.isCut) {
      const variables: SearchLogQueryVariables = { ...wanted, after }
      const { job } = await client.request(SearchLogDocument, variables, { attempts: 8, signal })
      if (!job) return
      const { cursor, isComplete, matches, scannedBytes } = job.logSearch
      after = cursor
      // A long line has several parts.
      const lines = [...found.lines, ...matches.map(({ line }) => line)].filter((line, i, all) => line !== all[i - 1])
      const scanned = found.scannedBytes + scannedBytes
      found = { ...found, lines, scannedBytes: scanned, isComplete, isCut: lines.length > linesMax }
      yield found
    }
  } catch (error) {
    if (signal.aborted) return
    yield { ...found, failure: error instanceof RequestFailed ? error : new RequestFailed('INTERNAL', String(error)) }
  }
}

/** The first match after a line, or the last one before it; at an end it begins at the other one. */
export function findMatch(lines: readonly number[], from: number, direction: 1 | -1): number | undefined {
  if (direction === 1) return lines.find((line) => line > from) ?? lines[0]
  return lines.findLast((line) => line < from) ?? lines.at(-1)
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
