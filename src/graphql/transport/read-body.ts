import type { IncomingMessage } from 'node:http'
import type { Share } from '../keyed-limit.ts'

/** Reading what was posted: never more bytes than are allowed, and no JSON with more values than are allowed. */
export type Body = { text: string } | 'too large' | 'too many values' | 'no room' | 'gone'

export interface BodyLimits {
  bytesMax: number
  valuesMax: number
  /** Of what all bodies of the sender may take that are read or worked on: a body that stops costs its sender nothing. */
  share: Share
}

export async function readBody(request: IncomingMessage, { valuesMax, ...limits }: BodyLimits): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limits.bytesMax) return 'too large'
  const bytes = await readBytes(request, limits)
  if (!Buffer.isBuffer(bytes)) return bytes
  return valuesIn(bytes) > valuesMax ? 'too many values' : { text: bytes.toString() }
}

function readBytes(
  request: IncomingMessage,
  { bytesMax, share }: Omit<BodyLimits, 'valuesMax'>,
): Promise<Exclude<Body, { text: string }> | Buffer> {
  return new Promise((resolve) => {
    const bytes = createBytes(bytesMax)
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

/** Pieces are joined as they come. To keep a list of them costs hundreds of bytes for each, and a piece may be one byte. */
function createBytes(bytesMax: number) {
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
 * How many values a JSON text may hold: its commas and opened brackets outside of texts. To parse 4 MiB of `{},{}`
 * takes half a second, and two million brackets longer; counting takes some milliseconds.
 */
function valuesIn(json: Buffer): number {
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
