/**
 * Lines of a log with several streams. A line belongs to one stream and gets the next number of its run with its first
 * byte; bytes of other streams may be in between. Every stored chunk has the line state at its first byte, so a reader
 * may start anywhere.
 */

export const logStreams = ['STDOUT', 'STDERR', 'SYSTEM'] as const
export type LogStream = (typeof logStreams)[number]

/** Code of a stream in `segments`, and its index in LineState. */
export const streamCode = { STDOUT: 1, STDERR: 2, SYSTEM: 3 } as const satisfies Record<LogStream, number>
export const decodeStream = (code: number): LogStream => logStreams[code - 1] ?? 'SYSTEM'

/** Number of the next line, then the numbers of the open lines of stdout, stderr and system; 0: no line is open. */
export type LineState = readonly number[]
export const noLines: LineState = [1, 0, 0, 0]
export const endLines = (state: LineState): LineState => [state[0] ?? 1, 0, 0, 0]

/** Returns the lowest line number that the first byte may have: an open line, or the next line. */
export const getFirstLineNumber = (state: LineState): number => Math.min(...state.filter((line) => line > 0))

const newline = 10

export function advanceLineState(state: LineState, code: number, bytes: Uint8Array): LineState {
  if (bytes.length === 0) return state
  let [next = 1] = state
  let open = state[code] ?? 0
  for (let at = 0; at < bytes.length; ) {
    if (open === 0) open = next++
    const end = bytes.indexOf(newline, at)
    if (end < 0) break
    open = 0
    at = end + 1
  }
  return state.map((value, place) => (place === 0 ? next : place === code ? open : value))
}

/** The part of a line that is in one segment. */
export interface LinePart {
  code: number
  line: number
  offset: number
  bytes: Buffer
  begins: boolean
  ends: boolean
}

export interface Lined {
  start: number
  lineState: LineState
  segments: readonly number[]
  bytes: Buffer
}

export function* readLineParts({ start, lineState, segments, bytes }: Lined): Generator<LinePart, void, void> {
  const open = [...lineState]
  let next = lineState[0] ?? 1
  let offset = 0
  for (let pair = 0; pair + 1 < segments.length; pair += 2) {
    const code = segments[pair] ?? 0
    const segment = bytes.subarray(offset, offset + (segments[pair + 1] ?? 0))
    for (let at = 0; at < segment.length; ) {
      const begins = !open[code]
      const line = open[code] || next++
      const end = segment.indexOf(newline, at)
      const stop = end < 0 ? segment.length : end + 1
      open[code] = end < 0 ? line : 0
      yield { code, line, offset: start + offset + at, bytes: segment.subarray(at, stop), begins, ends: end >= 0 }
      at = stop
    }
    offset += segment.length
  }
}

/** Returns where the next character begins. */
export function findCharacter(bytes: Uint8Array, at: number): number {
  let next = at
  while (next < at + 3 && ((bytes[next] ?? 0) & 0xc0) === 0x80) next++
  return next
}
