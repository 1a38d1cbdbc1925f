import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterBytes, endLines, type LineState, type LogStream, streamCode } from './lines.ts'

/** Bytes in one stored chunk at most. */
export const logChunkBytesMax = 262_144

export type GapReason = 'LOST' | 'OVER_LIMIT' | 'NOT_VISIBLE' | 'DISK_FULL'

/** A piece from an executor: output, or the size of output that is lost. */
export type LogPiece = { stream: LogStream; bytes: Uint8Array } | { gap: GapReason; bytes: number }

interface Place {
  start: number
  end: number
  lineState: LineState
}
export interface BytesChunk extends Place {
  at: Date
  segments: readonly number[]
  /** Unpacked when it is first asked for. */
  readonly bytes: Buffer
  /** The bytes, if they were stored a moment ago: they may be in a block (platform/blocks.ts). */
  readonly fresh?: Buffer
  gap: null
}
export interface GapChunk extends Place {
  at: Date
  gap: GapReason
}
export type Chunk = BytesChunk | GapChunk

/** The columns every reader of chunks selects, from alias `c`. */
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
    // The driver reads bigint[] as texts.
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

/** Whether a chunk has output of these streams; the others need not be unpacked. */
export const hasStream = ({ segments }: Pick<BytesChunk, 'segments'>, codes: ReadonlySet<number>): boolean =>
  segments.some((value, place) => place % 2 === 0 && codes.has(value))

/**
 * The size is known: unpacking into one buffer is twice as fast as growing one. Of a buffer that is filled to its last
 * byte Node does not know whether more follows, and makes another one.
 */
const unpack = (data: Buffer, size: number) =>
  isRaw(data)
    ? data.subarray(rawHeaderBytes)
    : zstdDecompressSync(data, { chunkSize: Math.max(smallestBuffer, size + 1) })

/** Node's zlib takes no smaller output buffer. */
const smallestBuffer = 64

/** While a job runs a chunk is packed at twice the speed of the usual level; merging packs it once more. */
const liveLevel = 1
export const mergedLevel = 3

export const pack = (bytes: Buffer, level: number): Buffer =>
  bytes.length <= rawBytesMax
    ? rawFrame(bytes)
    : zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } })

/**
 * A line or two are not compressed: making a compressor takes 100 µs, and they would not become smaller. They are a frame of
 * Zstandard with one raw block, so the column has one format: magic number, a descriptor (one segment, and its size in one
 * byte), the size, and the header of the block (the last one, raw, and its size again).
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

/** A chunk to be written. */
export type NewChunk = Place & ({ gap: null; segments: number[]; bytes: Buffer; data: Buffer } | { gap: GapReason })

/**
 * A chunk of so many bytes is not filled up with the beginning of the next piece: most pieces of much output become a
 * chunk as they are.
 */
const wellFilledBytes = logChunkBytesMax / 2

/** One part is not copied. */
const joined = (parts: readonly Uint8Array[]): Buffer =>
  parts.length === 1 && Buffer.isBuffer(parts[0]) ? parts[0] : Buffer.concat(parts)

interface LogEnd {
  end: number
  lineState: LineState
}

/** Cuts pieces into chunks that continue a log at `from`. */
export function packChunks(from: LogEnd, pieces: readonly LogPiece[]): { chunks: NewChunk[]; head: LogEnd } {
  const chunks: NewChunk[] = []
  let head = from
  let open: { start: number; lineState: LineState; segments: number[]; parts: Uint8Array[]; size: number } | undefined

  const close = () => {
    if (!open) return
    const { start, lineState, segments, parts } = open
    const bytes = joined(parts)
    chunks.push({ start, end: head.end, lineState, gap: null, segments, bytes, data: pack(bytes, liveLevel) })
    open = undefined
  }
  const add = (code: number, bytes: Uint8Array) => {
    open ??= { start: head.end, lineState: head.lineState, segments: [], parts: [], size: 0 }
    if (open.segments.at(-2) === code) open.segments.push((open.segments.pop() ?? 0) + bytes.length)
    else open.segments.push(code, bytes.length)
    open.parts.push(bytes)
    open.size += bytes.length
    head = { end: head.end + bytes.length, lineState: afterBytes(head.lineState, code, bytes) }
  }

  for (const piece of pieces) {
    if ('gap' in piece) {
      close()
      // A gap of unknown size takes one offset, so that it has a place.
      const end = head.end + Math.max(1, piece.bytes)
      chunks.push({ start: head.end, end, lineState: head.lineState, gap: piece.gap })
      head = { end, lineState: endLines(head.lineState) }
      continue
    }
    if (open && open.size >= wellFilledBytes && open.size + piece.bytes.length > logChunkBytesMax) close()
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
