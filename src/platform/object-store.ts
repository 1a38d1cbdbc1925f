import { AwsClient } from 'aws4fetch'
import { Unavailable } from './tx.ts'

/** Objects in a bucket of S3 or of a server that speaks its protocol. */
export interface ObjectStore {
  /** Afterwards the key has the whole content, or the promise rejects. */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Reads the bytes from `start` on. */
  get(key: string, start?: number): AsyncGenerator<Uint8Array>
  /** Does nothing if the object does not exist. */
  delete(key: string): Promise<void>
}

export interface S3Settings {
  bucket: string
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** A larger content is uploaded in parts of this size; S3 allows at most 10,000 parts. */
const partBytes = 16 * 1024 * 1024
type Part = Buffer<ArrayBuffer>
const requestMsMax = 120_000
const tries = 4

export class S3Objects implements ObjectStore {
  readonly #client: AwsClient
  readonly #bucket: string

  constructor({ bucket, endpoint, region, accessKeyId, secretAccessKey }: S3Settings) {
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: tries - 1 })
    this.#bucket = `${endpoint.replace(/\/+$/, '')}/${bucket}`
  }

  async put(key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const parts = splitParts(content)
    const first = await parts.next()
    const second = first.done ? first : await parts.next()
    if (second.done) await this.#ask('PUT', key, { body: first.value ?? Buffer.alloc(0) })
    else await this.#putParts(key, [first.value as Part, second.value], parts)
  }

  async #putParts(key: string, begun: Part[], rest: AsyncIterable<Part>): Promise<void> {
    const started = await (await this.#ask('POST', `${key}?uploads=`)).text()
    const [, id = ''] = /<UploadId>([^<]+)<\/UploadId>/.exec(started) ?? []
    const upload = `uploadId=${encodeURIComponent(unescapeXml(id))}`
    const tags: string[] = []
    const send = async (body: Part) => {
      const answer = await this.#ask('PUT', `${key}?partNumber=${tags.length + 1}&${upload}`, { body })
      await answer.arrayBuffer()
      tags.push(answer.headers.get('etag') ?? '')
    }
    try {
      for (let part = begun.shift(); part; part = begun.shift()) await send(part)
      for await (const part of rest) await send(part)
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`
      const done = await (await this.#ask('POST', `${key}?${upload}`, { body })).text()
      // S3 returns 200 before the upload is complete.
      if (done.includes('<Error>') || !done.includes('<ETag>'))
        throw new Unavailable('The object store did not complete the multipart upload')
    } catch (error) {
      await this.#ask('DELETE', `${key}?${upload}`).catch(() => undefined)
      throw error
    }
  }

  async *get(key: string, start = 0): AsyncGenerator<Uint8Array> {
    const init = start > 0 ? { headers: { range: `bytes=${start}-` } } : {}
    const { body, status } = await this.#ask('GET', key, init, null)
    if (start > 0 && status !== 206) {
      await body?.cancel()
      throw new Unavailable('The object store sent the whole object instead of a range')
    }
    try {
      if (body) yield* body // ends with an error after five minutes without a byte
    } catch (cause) {
      throw new Unavailable('The object store interrupted the download', { cause })
    }
  }

  async delete(key: string): Promise<void> {
    await this.#ask('DELETE', key)
  }

  /** `msMax`: time limit of the whole response; null: only of its head, because the caller may read slowly. */
  async #ask(
    method: string,
    path: string,
    init: RequestInit = {},
    msMax: number | null = requestMsMax,
  ): Promise<Response> {
    const signal = msMax === null ? {} : { signal: AbortSignal.timeout(msMax) }
    const send = () => this.#client.fetch(`${this.#bucket}/${path}`, { ...init, method, ...signal })
    // The store may close an idle connection at the moment of a request.
    const sendAgain = (error: unknown) => (isClosed(error) ? send() : Promise.reject(error))
    const answer = await send()
      .catch(sendAgain)
      .catch((cause: unknown) => {
        throw new Unavailable('The object store is not available', { cause })
      })
    if (answer.ok || (method === 'DELETE' && answer.status === 404)) return answer
    const text = await answer.text()
    const [, code = ''] = /<Code>(\w+)<\/Code>/.exec(text) ?? []
    throw new Unavailable(`The object store answers ${answer.status} ${code}`.trimEnd())
  }
}

const isClosed = (error: unknown) =>
  error instanceof Error &&
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((error.cause as { code?: string })?.code ?? '')

const unescapeXml = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')

/** Yields parts of `partBytes`, and a shorter last one. */
async function* splitParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of content) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes < partBytes) continue
    yield Buffer.concat(pieces)
    pieces = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(pieces)
}
