import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Minimum size to compress. Smaller responses fit into one packet anyway. */
export const compressedBytesMin = 2_048
/** With this quality, brotli is as fast as gzip, and its output a fifth smaller. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const encoders = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, brotliOptions),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 5 }),
}

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Compresses a large text if the client accepts it. BREACH does not apply: no cookies, and the gate refuses other origins. */
export async function sendCompressible({ request, response }: Exchange, text: string): Promise<void> {
  response.setHeader('vary', 'Origin, Accept-Encoding')
  const accepted = readEncodings(request.headers['accept-encoding'])
  const encoding = (['br', 'gzip'] as const).find((each) => accepted.has(each))
  // `end` sends head and body in one write.
  if (encoding === undefined || text.length < compressedBytesMin) return void response.end(text)
  const bytes = await encoders[encoding](Buffer.from(text))
  if (response.destroyed) return
  response.setHeader('content-encoding', encoding)
  response.setHeader('content-length', bytes.length)
  response.end(bytes)
}

export const acceptsEncoding = (accepted: string | string[] | undefined, encoding: 'br' | 'gzip'): boolean =>
  readEncodings(accepted).has(encoding)

function readEncodings(accepted: string | string[] | undefined): ReadonlySet<string> {
  const accepts = new Set<string>()
  for (const part of String(accepted ?? '').split(',')) {
    const [name = '', ...rest] = part.split(';').map((each) => each.trim().toLowerCase())
    if (!rest.some((each) => /^q=0(\.0*)?$/.test(each))) accepts.add(name)
  }
  return accepts
}
