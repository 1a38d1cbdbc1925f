import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A server with the part of the S3 protocol that Berth uses, without checking signatures. BERTH_TEST_S3: the URL of
 * another server, with the key and the secret as user and password, and with a bucket `berth-files`. That server keeps
 * the objects of tests.
 */
export interface S3Server extends AsyncDisposable {
  settings: { endpoint: string; bucket: string; region: string; accessKeyId: string; secretAccessKey: string }
}

const account = { bucket: 'berth-files', region: 'us-east-1', accessKeyId: 'berth', secretAccessKey: 'berth-secret' }

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

export async function openS3(): Promise<S3Server> {
  const given = process.env['BERTH_TEST_S3']
  if (given) {
    const { username, password, origin } = new URL(given)
    const [accessKeyId = '', secretAccessKey = ''] = [username, password].map(decodeURIComponent)
    const settings = { ...account, accessKeyId, secretAccessKey, endpoint: origin }
    return { settings, [Symbol.asyncDispose]: async () => undefined }
  }
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Map<number, Buffer>>()
  const takeParts = (method = '', { pathname, searchParams }: URL, body: Buffer): string => {
    const upload = searchParams.get('uploadId') ?? `upload-${uploads.size}`
    const parts = uploads.get(upload) ?? new Map<number, Buffer>()
    uploads.set(upload, parts)
    if (method === 'DELETE') uploads.delete(upload)
    if (method === 'PUT') parts.set(Number(searchParams.get('partNumber')), body)
    if (searchParams.has('uploads')) return `<UploadId>${upload}</UploadId>`
    if (method !== 'POST') return ''
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)/g)].map(([, number]) => Number(number))
    objects.set(pathname, Buffer.concat(named.map((number) => parts.get(number) ?? Buffer.alloc(0))))
    return '<ETag>joined</ETag>'
  }
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://s3')
    const { pathname } = url
    const body = await read(request)
    const tag = createHash('md5').update(body).digest('hex')
    const reply = (status: number, text: string | Buffer = '') =>
      response.writeHead(status, { etag: `"${tag}"` }).end(text)
    if (!/^AWS4-HMAC-SHA256 Credential=berth\//.test(request.headers.authorization ?? '')) return reply(403)
    if (/^\?(uploads|.*uploadId)=/.test(url.search)) return reply(200, takeParts(request.method, url, body))
    if (request.method === 'PUT') {
      objects.set(pathname, body)
      return reply(200)
    }
    if (request.method === 'DELETE') {
      objects.delete(pathname)
      return reply(204)
    }
    const found = objects.get(pathname)
    const [, start = '0'] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    if (!found) return reply(404, '<Error><Code>NoSuchKey</Code></Error>')
    return reply(start === '0' ? 200 : 206, found.subarray(Number(start)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    settings: { ...account, endpoint: url },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
