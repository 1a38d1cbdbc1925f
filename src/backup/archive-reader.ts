import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ReadableStream, ReadableWritablePair } from 'node:stream/web'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { BackupRefused, formatVersion, type Manifest, manifestName, manifestSchema, sumsName } from './manifest.ts'

/** Reads a backup. Throws with the name of the damaged file unless every byte is as it was written. */

export interface ArchiveFile {
  name: string
  body: AsyncIterable<Uint8Array>
}

const blockBytes = 512
/** Berth writes small text files; a larger file is not from Berth. */
const textBytesMax = 64 * 1024 * 1024

/** Yields the files of a backup. The caller must read every body to its end. */
export async function* readFiles(path: string): AsyncGenerator<ArchiveFile> {
  const source = Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
  // The types of this package are those of browser streams.
  const decoder = createTarDecoder({ strict: true }) as unknown as ReadableWritablePair<ParsedTarEntry, Uint8Array>
  let last = 'its beginning'
  for await (const { header, body } of nameDamage(
    source.pipeThrough(decoder),
    () => `${path} is damaged or cut after ${last}`,
  )) {
    last = header.name
    const bytes = Readable.fromWeb(body as unknown as ReadableStream<Uint8Array>)
    yield { name: header.name, body: nameDamage(bytes, () => `${path} is damaged or cut in ${header.name}`) }
  }
}

async function* nameDamage<T>(items: AsyncIterable<T>, describe: () => string): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    throw isTarError(error) ? new BackupRefused(`${describe()} (${(error as Error).message})`) : error
  }
}

const isTarError = (error: unknown) =>
  error instanceof Error && /^(Tar|Invalid|Unsupported|Unexpected)\b/i.test(error.message) && !('code' in error)

/** Compares every file of the backup with its checksum. */
export async function checkArchive(path: string): Promise<Manifest> {
  await refuseForeignFile(path)
  const sums = new Map<string, string>()
  const texts = new Map<string, string>()
  let bytes = 0
  for await (const { name, body } of readFiles(path)) {
    if (sums.has(name)) throw new BackupRefused(`${path} is damaged: it has ${name} twice`)
    const hash = createHash('sha256')
    const kept: Uint8Array[] = []
    let size = 0
    for await (const chunk of body) {
      hash.update(chunk)
      size += chunk.length
      if ([manifestName, sumsName].includes(name) && size <= textBytesMax) kept.push(chunk)
    }
    bytes += blockBytes + Math.ceil(size / blockBytes) * blockBytes
    sums.set(name, hash.digest('hex'))
    if (kept.length > 0) texts.set(name, Buffer.concat(kept).toString('utf8'))
  }
  compareSums(path, sums, texts.get(sumsName))
  if ((await stat(path)).size < bytes + 2 * blockBytes)
    throw new BackupRefused(`${path} is cut: its last block is missing`)
  const manifest = parseManifest(path, texts.get(manifestName) ?? '')
  compareParts(path, sums, manifest)
  return manifest
}

/** Rejects a file that is not a backup, by its first block. */
export async function refuseForeignFile(path: string): Promise<void> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new BackupRefused(`${path} does not exist`) : error
  })
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(blockBytes), position: 0 })
    const start = buffer.subarray(0, 4).toString('hex')
    const compression = start === '28b52ffd' ? 'zstd' : start.startsWith('1f8b') ? 'gzip' : null
    if (compression) throw new BackupRefused(`${path} is compressed: decompress it first with "${compression} -d"`)
    if (buffer.subarray(257, 262).toString('latin1') !== 'ustar')
      throw new BackupRefused(`${path} is not a backup: it is not a tar archive`)
  } finally {
    await file.close()
  }
}

function compareSums(path: string, sums: ReadonlyMap<string, string>, text: string | undefined) {
  if (text === undefined)
    throw new BackupRefused(`${path} is cut, or is not a backup: ${sumsName} at its end is missing`)
  const listed = new Map(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(66), line.slice(0, 64)] as const),
  )
  for (const [name, sum] of listed) {
    const found = sums.get(name)
    if (found === undefined) throw new BackupRefused(`${path} is damaged: ${name} is missing`)
    if (found !== sum) throw new BackupRefused(`${path} is damaged: ${name} differs from its checksum in ${sumsName}`)
  }
  for (const name of sums.keys())
    if (name !== sumsName && !listed.has(name))
      throw new BackupRefused(`${path} is damaged: ${name} does not belong in it`)
}

function parseManifest(path: string, text: string): Manifest {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new BackupRefused(`${path} is not a backup: ${manifestName} is missing or is not JSON`)
  }
  const version = (json as { formatVersion?: unknown } | null)?.formatVersion
  if (typeof version === 'number' && version > formatVersion)
    throw new BackupRefused(
      `${path} was made by a newer version of Berth (format ${version}): restore it with that one`,
    )
  const { data, error } = manifestSchema.safeParse(json)
  if (data) return data
  const [issue] = error.issues
  throw new BackupRefused(`${path} is not a backup: ${manifestName}: ${issue?.path.join('.')}: ${issue?.message}`)
}

function compareParts(path: string, sums: ReadonlyMap<string, string>, { tables }: Manifest) {
  const parts = tables.flatMap((table) => table.parts)
  for (const part of parts)
    if (sums.get(part.name) !== part.sha256)
      throw new BackupRefused(`${path} is damaged: ${part.name} is not the one that ${manifestName} names`)
  if (sums.size !== parts.length + 2) throw new BackupRefused(`${path} has files that ${manifestName} does not name`)
}
