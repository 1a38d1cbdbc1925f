import type { LogChunk } from '../executor.ts'

/**
 * `line 1`, `line 2` … as bytes, from any line, generated on demand. All lines exist the moment the run begins; the
 * position is `{ line }`, the last line that was read: chunks end at ends of lines.
 */

const chunkBytesMax = 65_536

export interface OutputPosition {
  line: number
}

export function* printLines(lines: number, from: OutputPosition, signal: AbortSignal): Generator<LogChunk> {
  let { line } = from
  while (line < lines && !signal.aborted) {
    let text = ''
    while (line < lines && text.length < chunkBytesMax - lineBytesMax) {
      line += 1
      text += `line ${line}\n`
    }
    yield { stream: 'STDOUT', bytes: Buffer.from(text, 'latin1'), next: { line } }
  }
}

const lineBytesMax = 32

export function parseLinePosition(position: unknown): OutputPosition {
  if (position === null) return { line: 0 }
  const { line } = position as Partial<OutputPosition>
  if (!Number.isSafeInteger(line))
    throw new Error(`Not a log position of the executor simulated: ${JSON.stringify(position)}`)
  return { line: Number(line) }
}
