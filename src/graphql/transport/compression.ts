import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Smaller responses fit into one packet anyway. */
export const compressedBytesMin = 2_048
/** As fast as gzip, with a fifth fewer bytes. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const encoders = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, brotliOptions),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 5 }),
} as const

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/**
 * Sends a JSON text, compressed if the client accepts it and it is worth the work. Streams are never compressed: each message
 * would wait for the next. BREACH does not apply: Berth has no cookies, and the gate refuses other
 * origins.
 */
export async function sendCompressible({ request, response }: Exchange, text: string): Promise<void> {
  response.setHeader('vary', 'Origin, Accept-Encoding')
  const encoding = text.length < compressedBytesMin ? null : chooseEncoding(request.headers['accept-encoding'])
  // `end` sends head and body in one write.
  if (encoding === null) return void response.end(text)
  const bytes = await encoders[encoding](Buffer.from(text))
  if (response.destroyed) return
  response.setHeader('content-encoding', encoding)
  response.setHeader('content-length', bytes.length)
  response.end(bytes)
}

function chooseEncoding(accepted: string | string[] | undefined): keyof typeof encoders | null {
  const accepts = readEncodings(accepted)
  return accepts.has('br') ? 'br' : accepts.has('gzip') ? 'gzip' : null
}

export const acceptsGzip = (accepted: string | string[] | undefined): boolean => readEncodings(accepted).has('gzip')

function readEncodings(accepted: string | string[] | undefined): ReadonlySet<string> {
  const accepts = new Set<string>()
  for (const part of String(accepted ?? '').split(',')) {
    const [name = '', ...rest] = part.split(';').map((each) => each.trim().toLowerCase())
    if (!rest.some((each) => /^q=0(\.0*)?$/.test(each))) accepts.add(name)
  }
  return accepts
}
