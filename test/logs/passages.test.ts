import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutPassage, cutPassageOfLines, encodeStreams, type Passage } from '../../src/logs/batch.ts'
import { type BytesChunk, type LogPiece, packChunks, readChunk } from '../../src/logs/chunk.ts'
import type { CutOptions } from '../../src/logs/cut.ts'
import { type LogStream, noLines } from '../../src/logs/lines.ts'
import { isWhole } from '../support/whole.ts'

/** Text, line ends, beginnings of characters and escape sequences, invalid UTF-8. */
const units = [
  ...['x', '\n', 'line\n', '€', '\u001b[31m', '\u001b]0;'].map((text) => Buffer.from(text)),
  ...[[0xe9], [0xff], [0xe2, 0x82], [0x80]].map((bytes) => Buffer.from(bytes)),
]
const few = fc.integer({ min: 1, max: 4 })
const many = fc.integer({ min: 1_000, max: 9_000 })
const stretch = fc
  .record({ unit: fc.constantFrom(...units), times: fc.oneof({ weight: 3, arbitrary: few }, many) })
  .map(({ unit, times }) => Buffer.alloc(unit.length * times, unit))

const piece = fc.record({ stream: fc.constantFrom<LogStream>('STDOUT', 'STDERR'), bytes: stretch })
const log = fc.record({
  /** Each inner array is one append, so its end is the end of a chunk. */
  appends: fc.array(fc.array(piece, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
  bytesMax: fc.integer({ min: 1_024, max: 6_000 }),
  /** Bytes of a read, which may have one chunk more: always more than a passage holds. */
  page: fc.integer({ min: 6_000, max: 80_000 }),
})
type Log = typeof log extends fc.Arbitrary<infer T> ? T : never

function chunksOf(appends: readonly (readonly LogPiece[])[]): BytesChunk[] {
  let from = { end: 0, lineState: noLines }
  return appends.flatMap((pieces) => {
    const { chunks, head } = packChunks(from, pieces)
    from = head
    return chunks.map((chunk) => {
      if (chunk.gap !== null) throw new Error('No gap was appended')
      const { start: start_offset, end: end_offset, lineState: line_state, ...rest } = chunk
      const read = readChunk({ start_offset, end_offset, line_state, at: new Date(0), ...rest })
      if (read.gap !== null) throw new Error('No gap was appended')
      return read
    })
  })
}

type Cutter = (stored: readonly BytesChunk[], options: CutOptions) => Passage

/** Reads a sealed log to its end like a reader: if a passage holds back everything, the next one includes it. */
function readAll({ appends, bytesMax, page }: Log, streams: readonly LogStream[], cutter: Cutter): Passage[] {
  const chunks = chunksOf(appends)
  const end = chunks.at(-1)?.end ?? 0
  const parts: Passage[] = []
  for (let from = 0; from < end; from = parts.at(-1)?.end ?? end) {
    const stored = chunks.filter((chunk) => chunk.end > from && chunk.start < from + page)
    const follows = (stored.at(-1)?.end ?? 0) < end ? 'MORE' : 'END'
    const options = { from, codes: encodeStreams(streams), bytesMax, follows } as const
    const part = cutter(stored, { ...options, upTo: 'ALL' })
    parts.push(part.end > from ? part : cutter(stored, { ...options, upTo: 'BYTES' }))
    expect(parts.at(-1)?.end).toBeGreaterThan(from)
    expect(Buffer.byteLength(parts.at(-1)?.text ?? '')).toBeLessThanOrEqual(bytesMax)
  }
  return parts
}

test.for<[string, Cutter]>([
  ['text', (stored, options) => cutPassage(stored, 1, options)],
  ['lines', (stored, options) => cutPassageOfLines(stored, 1, { ...options, linesMax: 2_000 })],
])('the parts of a search over %s cover any bytes to the end, and contain their text', ([, cutter]) => {
  fc.assert(
    fc.property(log, (given) => {
      readAll(given, ['STDERR'], cutter)
      const text = readAll(given, ['STDOUT', 'STDERR'], cutter)
        .map((part) => part.text)
        .join('')
      const written = Buffer.concat(given.appends.flat().map(({ bytes }) => bytes)).toString('utf8')
      // toBe would print both texts.
      expect(text === written).toBe(true)
    }),
    { numRuns: isWhole ? 100 : 30 },
  )
})

test('text that is not UTF-8 is searched in about as many parts as UTF-8 text', () => {
  const passagesOf = (line: Buffer) => {
    const bytes = Buffer.alloc(400_000, line)
    const whole = { appends: [[{ stream: 'STDOUT' as const, bytes }]], bytesMax: 65_536, page: 262_144 }
    return readAll(whole, ['STDOUT'], (stored, options) => cutPassage(stored, 1, options)).length
  }
  const utf8 = passagesOf(Buffer.from('une ligne au caf\u00e9\n'))
  expect(passagesOf(Buffer.from('une ligne au caf\u00e9\n', 'latin1'))).toBeLessThanOrEqual(utf8 + 2)
})
