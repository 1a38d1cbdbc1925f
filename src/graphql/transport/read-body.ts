import type { IncomingMessage } from 'node:http'
import type { Share } from '../keyed-limit.ts'

export type Body = { text: string } | 'too large' | 'too many values' | 'no room' | 'gone'

export interface BodyLimits {
  bytesMax: number
  valuesMax: number
  /** Limits the total of all bodies of the sender, because a stalled body occupies memory at no cost for its sender. */
  share: Share
}

export function readBody(request: IncomingMessage, { bytesMax, valuesMax, share }: BodyLimits): Promise<Body> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) return resolve('too large')
    const bytes = createBuffer(bytesMax)
    const take = (piece: Buffer) => {
      if (bytes.length() + piece.length > bytesMax) refuse('too large')
      else if (share.add(piece.length)) bytes.add(piece)
      else refuse('no room')
    }
    // Releases the share now, although the rest of the body still arrives.
    const refuse = (why: 'too large' | 'no room') => {
      request.off('data', take)
      resolve(why)
    }
    request.on('data', take)
    request.once('end', () => {
      const whole = bytes.whole()
      resolve(countValues(whole) > valuesMax ? 'too many values' : { text: whole.toString() })
    })
    request.once('error', () => resolve('gone'))
    request.once('close', () => resolve('gone'))
  })
}

/**
 * Joins pieces as they arrive. A list of pieces would cost hundreds of bytes for each, and a piece may be a single
 * byte.
 */
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
 * Estimates the number of values by commas and opening brackets: parsing 4 MiB of `{},{}` takes half a second, counting
 * a few milliseconds.
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
