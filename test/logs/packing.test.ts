import { zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { pack, packChunks, readChunk } from '../../src/logs/chunk.ts'
import { noLines } from '../../src/logs/lines.ts'

test('chunks of every size are compressed with Zstandard and read back unchanged; a single line is not compressed', () => {
  for (const size of [1, 2, 31, 32, 254, 255, 256, 257, 70_000]) {
    for (const fill of [
      'one line of a program that tells its progress\n',
      '\u0000',
      '(\u00b5/\u00fd \u0001\t\u0000\u0000',
    ]) {
      const bytes = Buffer.alloc(size, fill, 'latin1')
      const { chunks } = packChunks({ end: 7, lineState: noLines }, [{ stream: 'STDOUT', bytes }])
      const [chunk] = chunks
      if (!chunk || chunk.gap !== null) throw new Error('The table has no chunk')
      expect(zstdDecompressSync(chunk.data)).toEqual(bytes)
      const { start, end, segments, data } = chunk
      const row = { start_offset: start, end_offset: end, at: new Date(), line_state: [], segments, data, gap: null }
      const read = readChunk(row)
      expect(read.gap === null && read.bytes.equals(bytes), `${size} bytes`).toBe(true)
    }
  }
  const line = Buffer.from('='.repeat(200))
  expect(pack(line, 1).subarray(-line.length)).toEqual(line)
})
