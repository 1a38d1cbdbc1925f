import type { LogChunk } from '../executor.ts'

/**
 * Output of a simulated run: `line 1`, `line 2` … All lines exist from the beginning of the run; the position is the
 * number of the last line that was read.
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
