import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/**
 * Compression of JSON answers, where the client takes it and it is worth the work. Streams are never compressed: each
 * message would wait for the next. Compressed answers are safe from BREACH, which makes a browser send requests in the
 * name of a person: there are no cookies, and other origins are turned away (docs/decisions/0015).
 */

/** Below this the saving is smaller than one packet. */
export const compressedBytesMin = 2_048
/** Quality 4 of Brotli is as fast as gzip, and a fifth smaller. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const encoders = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, brotliOptions),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 5 }),
} as const

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Ends the response with the text; its status and type are set already. */
export async function sendCompressible({ request, response }: Exchange, text: string): Promise<void> {
  response.setHeader('vary', 'Origin, Accept-Encoding')
  const encoding = text.length < compressedBytesMin ? null : encodingFor(request.headers['accept-encoding'])
  // Head and body in one write: writeHead would send the head alone, for a body of unknown length.
  if (encoding === null) return void response.end(text)
  const bytes = await encoders[encoding](Buffer.from(text))
  if (response.destroyed) return
  response.setHeader('content-encoding', encoding)
  response.setHeader('content-length', bytes.length)
  response.end(bytes)
}

function encodingFor(accepted: string | string[] | undefined): keyof typeof encoders | null {
  const taken = encodingsIn(accepted)
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : null
}

export const acceptsGzip = (accepted: string | string[] | undefined): boolean => encodingsIn(accepted).has('gzip')

function encodingsIn(accepted: string | string[] | undefined): ReadonlySet<string> {
  const taken = new Set<string>()
  for (const part of String(accepted ?? '').split(',')) {
    const [name = '', ...rest] = part.split(';').map((each) => each.trim().toLowerCase())
    if (!rest.some((each) => /^q=0(\.0*)?$/.test(each))) taken.add(name)
  }
  return taken
}
