import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { advanceLineState, endLines, type LineState, type LogStream, streamCode } from './lines.ts'

export const logChunkBytesMax = 262_144
/** Maximum number of segments. All segments of a chunk are read at once, so more would delay other requests. */
const segmentsMax = 1_024

export const hasTooManySegments = (chunks: readonly Pick<BytesChunk, 'segments'>[]): boolean =>
  chunks.reduce((sum, { segments }) => sum + segments.length, 0) > 2 * segmentsMax

export type GapReason = 'LOST' | 'OVER_LIMIT' | 'NOT_VISIBLE' | 'DISK_FULL'

/** A piece of output from an executor, or a gap for output that was lost. */
export type LogPiece = { stream: LogStream; bytes: Uint8Array } | { gap: GapReason; bytes: number }

interface Place {
  start: number
  end: number
  lineState: LineState
}
export interface BytesChunk extends Place {
  at: Date
  segments: readonly number[]
  /** Unpacked when it is first read. */
  readonly bytes: Buffer
  /** The bytes of a chunk that was just stored; they may be in a block (platform/blocks.ts). */
  readonly fresh?: Buffer
  gap: null
}
export interface GapChunk extends Place {
  at: Date
  gap: GapReason
}
export type Chunk = BytesChunk | GapChunk

export const chunkColumns = 'c.start_offset, c.end_offset, c.at, c.line_state, c.segments, c.data, c.gap' as const

export interface ChunkRow {
  start_offset: number
  end_offset: number
  at: Date
  line_state: readonly (string | number)[]
  segments: number[]
  data: Buffer | null
  gap: string | null
}

export function readChunk(row: ChunkRow): Chunk {
  const place = {
    start: row.start_offset,
    end: row.end_offset,
    at: row.at,
    // The driver returns bigint[] as strings.
    lineState: row.line_state.map(Number),
  }
  if (row.data === null) return { ...place, gap: row.gap as GapReason }
  const { data, segments } = row
  let bytes: Buffer | undefined
  return {
    ...place,
    gap: null,
    segments,
    get bytes() {
      bytes ??= unpack(data, place.end - place.start)
      return bytes
    },
  }
}

/** Whether the chunk has output of these streams; if not, it need not be unpacked. */
export const hasStream = ({ segments }: Pick<BytesChunk, 'segments'>, codes: ReadonlySet<number>): boolean =>
  segments.some((value, place) => place % 2 === 0 && codes.has(value))

interface Segment {
  code: number
  /** Offset of the first byte. */
  start: number
  bytes: Buffer
}

/** Reads the segments of these streams. */
export function* readSegments({ start, segments, bytes }: BytesChunk, codes: ReadonlySet<number>): Generator<Segment> {
  let at = 0
  for (let pair = 0; pair + 1 < segments.length; pair += 2) {
    const code = segments[pair] ?? 0
    const end = at + (segments[pair + 1] ?? 0)
    if (codes.has(code)) yield { code, start: start + at, bytes: bytes.subarray(at, end) }
    at = end
  }
}

/**
 * Unpacks into one buffer of the known size, which is twice as fast as growing a buffer. Node allocates another buffer
 * when one is filled to its last byte, so the size is larger by one.
 */
const unpack = (data: Buffer, size: number) =>
  isRaw(data)
    ? data.subarray(rawHeaderBytes)
    : zstdDecompressSync(data, { chunkSize: Math.max(smallestBuffer, size + 1) })

/** Minimum size of an output buffer of Node's zlib. */
const smallestBuffer = 64

/** Chunks of a running job are packed at this level, twice as fast as the usual one. Merging packs them again. */
const liveLevel = 1
export const mergedLevel = 3

export const pack = (bytes: Buffer, level: number): Buffer =>
  bytes.length <= rawBytesMax
    ? rawFrame(bytes)
    : zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } })

/**
 * Short chunks are not compressed: a compressor costs 100 µs, and saves no bytes there. They are a Zstandard frame with
 * one raw block, so the column has one format: magic number, descriptor, size, and the header of the last block.
 */
const rawBytesMax = 255
const rawHeaderBytes = 9
const magic = 0xfd2fb528
const oneSegment = 0x20
const lastRawBlock = 1

function rawFrame(bytes: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(rawHeaderBytes + bytes.length)
  frame.writeUInt32LE(magic)
  frame[4] = oneSegment
  frame[5] = bytes.length
  frame.writeUIntLE(lastRawBlock | (bytes.length << 3), 6, 3)
  frame.set(bytes, rawHeaderBytes)
  return frame
}

const isRaw = (data: Buffer): boolean =>
  data.length >= rawHeaderBytes &&
  data[4] === oneSegment &&
  data.readUIntLE(6, 3) === (lastRawBlock | ((data.length - rawHeaderBytes) << 3))

export type NewChunk = Place & ({ gap: null; segments: number[]; bytes: Buffer; data: Buffer } | { gap: GapReason })

/**
 * A chunk of this size is not filled with the beginning of the next piece, so most pieces of a large output become
 * chunks without a copy.
 */
const wellFilledBytes = logChunkBytesMax / 2

/** A single part is not copied. */
export const joinBytes = (parts: readonly Uint8Array[]): Buffer =>
  parts.length === 1 && Buffer.isBuffer(parts[0]) ? parts[0] : Buffer.concat(parts)

interface LogEnd {
  end: number
  lineState: LineState
}

/** Packs pieces into chunks that continue a log at `from`. */
export function packChunks(from: LogEnd, pieces: readonly LogPiece[]): { chunks: NewChunk[]; head: LogEnd } {
  const chunks: NewChunk[] = []
  let head = from
  let open: { start: number; lineState: LineState; segments: number[]; parts: Uint8Array[]; size: number } | undefined

  const close = () => {
    if (!open) return
    const { start, lineState, segments, parts } = open
    const bytes = joinBytes(parts)
    chunks.push({ start, end: head.end, lineState, gap: null, segments, bytes, data: pack(bytes, liveLevel) })
    open = undefined
  }
  const add = (code: number, bytes: Uint8Array) => {
    open ??= { start: head.end, lineState: head.lineState, segments: [], parts: [], size: 0 }
    if (open.segments.at(-2) === code) open.segments.push((open.segments.pop() ?? 0) + bytes.length)
    else open.segments.push(code, bytes.length)
    open.parts.push(bytes)
    open.size += bytes.length
    head = { end: head.end + bytes.length, lineState: advanceLineState(head.lineState, code, bytes) }
  }

  for (const piece of pieces) {
    if ('gap' in piece) {
      close()
      // A gap of unknown size has the size 1.
      const end = head.end + Math.max(1, piece.bytes)
      chunks.push({ start: head.end, end, lineState: head.lineState, gap: piece.gap })
      head = { end, lineState: endLines(head.lineState) }
      continue
    }
    if (open && open.size >= wellFilledBytes && open.size + piece.bytes.length > logChunkBytesMax) close()
    if (open?.segments.length === 2 * segmentsMax) close()
    for (let at = 0; at < piece.bytes.length; ) {
      const room = logChunkBytesMax - (open?.size ?? 0)
      const bytes = piece.bytes.subarray(at, at + room)
      add(streamCode[piece.stream], bytes)
      at += bytes.length
      if (bytes.length === room) close()
    }
  }
  close()
  return { chunks, head }
}
