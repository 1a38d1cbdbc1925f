/**
 * Lines of a merged stream. A line belongs to one stream, gets the next number of its run with its first byte and ends
 * with its "\n"; bytes of other streams may lie between. So the numbers at any offset follow from the bytes before it,
 * and every stored chunk keeps the state at its first byte: a reader may start anywhere.
 */

export const logStreams = ['STDOUT', 'STDERR', 'SYSTEM'] as const
export type LogStream = (typeof logStreams)[number]

/** Code of a stream in `segments` and place in LineState. */
export const streamCode = { STDOUT: 1, STDERR: 2, SYSTEM: 3 } as const satisfies Record<LogStream, number>
export const decodeStream = (code: number): LogStream => logStreams[code - 1] ?? 'SYSTEM'

/** Next line number, then the number of the open line of stdout, stderr and system; 0: none is open. */
export type LineState = readonly number[]
export const noLines: LineState = [1, 0, 0, 0]
/** A gap and the end of a log end the open lines. */
export const endLines = (state: LineState): LineState => [state[0] ?? 1, 0, 0, 0]

const newline = 10

/** The line state after more bytes of one stream. */
export function afterBytes(state: LineState, code: number, bytes: Uint8Array): LineState {
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

/** A part of one line that lies whole in one segment. */
export interface LinePart {
  code: number
  /** Number of the line. */
  line: number
  /** Offset of the first byte. */
  offset: number
  bytes: Buffer
  /** Whether the first byte begins a line. */
  begins: boolean
  /** Whether the last byte is the "\n". */
  ends: boolean
}

/** A chunk that holds bytes, as far as lines are concerned. */
export interface Lined {
  start: number
  lineState: LineState
  segments: readonly number[]
  bytes: Buffer
}

/** The parts of a chunk in order. */
export function* lineParts({ start, lineState, segments, bytes }: Lined): Generator<LinePart, void, void> {
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
