import type { IncomingMessage } from 'node:http'
import type { Share } from '../keyed-limit.ts'

export type Body = { text: string } | 'too large' | 'too many values' | 'no room' | 'gone'

export interface BodyLimits {
  bytesMax: number
  valuesMax: number
  /** Limits the bytes of all bodies of the sender: a stalled body stays in memory at no cost for its sender. */
  share: Share
}

/** Reads a body within its limits of bytes and JSON values. */
export async function readBody(request: IncomingMessage, { valuesMax, ...limits }: BodyLimits): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limits.bytesMax) return 'too large'
  const bytes = await readBytes(request, limits)
  if (!Buffer.isBuffer(bytes)) return bytes
  return countValues(bytes) > valuesMax ? 'too many values' : { text: bytes.toString() }
}

function readBytes(
  request: IncomingMessage,
  { bytesMax, share }: Omit<BodyLimits, 'valuesMax'>,
): Promise<Exclude<Body, { text: string }> | Buffer> {
  return new Promise((resolve) => {
    const bytes = createBuffer(bytesMax)
    const take = (piece: Buffer) => {
      if (bytes.length() + piece.length > bytesMax) refuse('too large')
      else if (share.add(piece.length)) bytes.add(piece)
      else refuse('no room')
    }
    // The rest still comes, when the share has been given back.
    const refuse = (why: 'too large' | 'no room') => {
      request.off('data', take)
      resolve(why)
    }
    request.on('data', take)
    request.once('end', () => resolve(bytes.whole()))
    request.once('error', () => resolve('gone'))
    request.once('close', () => resolve('gone'))
  })
}

/** Joins pieces as they arrive: a list would cost hundreds of bytes for each, and a piece may be one byte. */
function createBuffer(bytesMax: number) {
  let joined: Buffer = Buffer.alloc(0)
  let length = 0
  return {
    length: () => length,
    add(part: Buffer) {
      if (length === 0) joined = part
      else {
        if (length + part.length > joined.length)
          joined = Buffer.concat([joined.subarray(0, length)], Math.min(2 * (length + part.length), bytesMax))
        part.copy(joined, length)
      }
      length += part.length
    },
    whole: () => joined.subarray(0, length),
  }
}

const [quote, comma, list, backslash, object] = Buffer.from('",[\\{')

/**
 * Counts the values of a JSON text by its commas and opening brackets. Parsing 4 MiB of `{},{}` takes half a second; counting
 * takes some milliseconds.
 */
function countValues(json: Buffer): number {
  let values = 1
  let inText = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (inText && byte === backslash) i++
    else if (byte === quote) inText = !inText
    else if (!inText && (byte === comma || byte === list || byte === object)) values++
  }
  return values
}
