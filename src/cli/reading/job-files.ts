import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ReadableStream, type ReadableWritablePair } from 'node:stream/web'
import type { ParsedTarEntry } from 'modern-tar'
import { readRetryMs } from '../../client/connection/failure.ts'
import { retryWaitMs } from '../../client/connection/retry.ts'
import { sleepFor } from '../../client/connection/sleep.ts'
import {
  type ArtifactRowFragment,
  CreateDownloadDocument,
  type CreateDownloadInput,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { countFiles, formatDecimalBytes } from './here.ts'
import { findFile } from './job-outputs.ts'

/** Downloads files of a job. The job chose their names, so nothing may be written outside of the target folder. */

type File = Pick<ArtifactRowFragment, 'id' | 'name' | 'sizeBytes'>

async function download(
  cli: Cli,
  input: CreateDownloadInput,
  { from = 0, after }: { from?: number; after?: string | undefined } = {},
): Promise<AsyncGenerator<Uint8Array, void, void>> {
  const { url } = await mutate(cli, CreateDownloadDocument, input, { attempts: 3 })
  const address = after === undefined ? url : `${url}&after=${encodeURIComponent(after)}`
  return cli.connection().download(address, { from, signal: cli.ended })
}

/** Maximum number of attempts in a row that receive no byte. */
const attemptsMax = 6

/**
 * Waits before the next attempt of an interrupted download. Rethrows other errors, and the error of the last attempt.
 */
async function waitAfterCut(cli: Cli, error: unknown, attempt: number): Promise<void> {
  const waitMs = readRetryMs(error)
  if (waitMs === null || attempt + 1 >= attemptsMax) throw error
  await sleepFor(Math.max(waitMs, retryWaitMs(attempt)), cli.ended)
}

/** The content of a file. Resumes after an interruption, because an artifact never changes. */
async function* readFile(cli: Cli, artifactId: string, from = 0): AsyncGenerator<Uint8Array, void, void> {
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const piece of await download(cli, { artifactId }, { from })) {
        from += piece.length
        attempt = 0
        yield piece
      }
      return
    } catch (error) {
      await waitAfterCut(cli, error, attempt)
    }
  }
}

/**
 * The files of a job. After an interruption, resumes the current file alone, and then continues with the files after
 * it.
 */
async function* readFiles(cli: Cli, jobId: string): AsyncGenerator<Incoming> {
  let after: string | undefined
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const file of readTar(await download(cli, { filesOfJob: jobId }, { after }))) {
        yield { name: file.name, pieces: finishFile(cli, jobId, file) }
        after = file.name
        attempt = 0
      }
      return
    } catch (error) {
      await waitAfterCut(cli, error, attempt)
    }
  }
}

async function* finishFile(cli: Cli, jobId: string, { name, pieces }: Incoming): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of pieces) {
      hash.update(piece)
      bytes += piece.length
      yield piece
    }
  } catch (error) {
    await waitAfterCut(cli, error, 0)
    const { id, sha256, sizeBytes } = await findFile(cli, jobId, name, ['FILE'])
    for await (const piece of bytes < Number(sizeBytes) ? readFile(cli, id, bytes) : []) {
      hash.update(piece)
      yield piece
    }
    if (hash.digest('hex') !== sha256)
      throw new Stop(
        exitCodes.refused,
        `${JSON.stringify(name)} was replaced while it was read`,
        'get the files again, with --force',
      )
  }
}

export async function printFile(cli: Cli, { id }: Pick<File, 'id'>): Promise<void> {
  for await (const piece of readFile(cli, id)) await cli.terminal.write(piece)
}

/** Where to write files. `overwrites`: replaces existing files. */
interface Place {
  folder: string
  overwrites: boolean
}

export async function getFile(cli: Cli, { id, name }: File, place: Place): Promise<void> {
  await writeAll(cli, [{ name, pieces: readFile(cli, id) }], place)
}

export async function getFiles(cli: Cli, jobId: string, place: Place): Promise<void> {
  await writeAll(cli, readFiles(cli, jobId), place)
}

interface Incoming {
  name: string
  pieces: AsyncIterable<Uint8Array>
}

async function* readTar(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Incoming> {
  const { createTarDecoder } = await import('modern-tar')
  // The package declares browser streams, which are compatible with those of Node.
  const decoder = createTarDecoder({ strict: true }) as unknown as ReadableWritablePair<ParsedTarEntry, Uint8Array>
  for await (const { header, body } of ReadableStream.from(pieces).pipeThrough(decoder)) {
    if (header.type === 'file') yield { name: header.name, pieces: body as unknown as ReadableStream<Uint8Array> }
    else await body.cancel()
  }
}

async function writeAll(cli: Cli, files: Iterable<Incoming> | AsyncIterable<Incoming>, place: Place): Promise<void> {
  const { terminal } = cli
  let [count, bytes] = [0, 0]
  await mkdir(place.folder, { recursive: true })
  try {
    for await (const file of files) {
      const { name } = file
      count += 1
      await writeFile(place, file, (more) => {
        bytes += more
        terminal.progress(`${countFiles(count)}, ${formatDecimalBytes(bytes)}: ${name}`)
      })
    }
  } finally {
    terminal.progress(null)
  }
  terminal.say(`${countFiles(count)}, ${formatDecimalBytes(bytes)}`)
}

async function writeFile(
  { folder, overwrites }: Place,
  { name, pieces }: Incoming,
  onWritten: (bytes: number) => void,
): Promise<void> {
  const parts = name.split('/')
  if (parts.some((part) => ['', '.', '..'].includes(part)) || /\p{Cc}/u.test(name)) throw refuse(name, 'leads outside')
  // Files in .git can make git run programs.
  if (parts.some((part) => /^\.git$/i.test(part))) throw refuse(name, 'is in a folder of git')
  for (let depth = 1; depth < parts.length; depth++) await demandFolder(join(folder, ...parts.slice(0, depth)), name)
  const path = join(folder, name)
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (overwrites ? O_TRUNC : O_EXCL)
  const file = await open(path, flags, 0o666).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw refuse(name, 'exists there; --force overwrites')
    throw refuse(name, error.code === 'ELOOP' ? 'is a link there' : `cannot be written: ${error.code}`)
  })
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece)
      onWritten(piece.length)
    }
  } finally {
    await file.close()
  }
}

async function demandFolder(path: string, name: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw refuse(name, `cannot be written: ${error.code}`)
  })
  if (!(await lstat(path)).isDirectory()) throw refuse(name, 'is below a link or a file there')
}

const refuse = (name: string, why: string) =>
  new Stop(exitCodes.refused, `${JSON.stringify(name)} ${why}`, 'choose an empty folder with --into')
