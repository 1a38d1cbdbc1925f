import { Readable } from 'node:stream'
import type { ReadableStream, ReadableWritablePair } from 'node:stream/web'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import type { FoundOutput } from '../../domain/outputs/found.ts'

/** Reads the files of a tar one after the other. A body that the caller does not read is skipped. */

interface TarFile extends Omit<FoundOutput, 'type' | 'size'> {
  /** HARD_LINK: another name of an earlier file, without content. */
  type: FoundOutput['type'] | 'HARD_LINK'
  size: number
  content: AsyncIterable<Uint8Array>
}

export async function* readTarFiles(archive: Readable): AsyncGenerator<TarFile> {
  // The types of this package are those of browser streams.
  const decoder = createTarDecoder({ strict: true }) as unknown as ReadableWritablePair<ParsedTarEntry, Uint8Array>
  const entries = (Readable.toWeb(archive) as ReadableStream<Uint8Array>).pipeThrough(decoder)
  for await (const { header, body } of entries as AsyncIterable<ParsedTarEntry>) {
    const content = read(body as unknown as ReadableStream<Uint8Array>)
    const { name, size, type } = header
    if (type !== 'directory') yield { path: name, type: types.get(type ?? 'file') ?? 'OTHER', size, content }
    await body.cancel().catch(() => undefined)
  }
}

async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body
}

const types: ReadonlyMap<string, TarFile['type']> = new Map([
  ['file', 'FILE'],
  ['contiguous-file', 'FILE'],
  ['symlink', 'LINK'],
  ['link', 'HARD_LINK'],
])
