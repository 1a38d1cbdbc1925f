import { constants } from 'node:fs'
import { lstat, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ReadableStream, type ReadableWritablePair } from 'node:stream/web'
import type { ParsedTarEntry } from 'modern-tar'
import {
  type ArtifactRowFragment,
  CreateDownloadDocument,
  type CreateDownloadInput,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { countFiles, formatDecimalBytes } from './here.ts'

/** Copies files of a job to this machine. Names come from a job: nothing is written outside of the folder. */

type File = Pick<ArtifactRowFragment, 'id' | 'name' | 'sizeBytes'>

async function download(cli: Cli, input: CreateDownloadInput): Promise<AsyncGenerator<Uint8Array, void, void>> {
  const { url } = await mutate(cli, CreateDownloadDocument, input, { attempts: 3 })
  return cli.connection().download(url, { signal: cli.ended })
}

export async function printFile(cli: Cli, { id }: Pick<File, 'id'>): Promise<void> {
  for await (const piece of await download(cli, { artifactId: id })) await cli.terminal.write(piece)
}

/** `overwrites`: existing files get the content of those of the job. */
interface Place {
  folder: string
  overwrites: boolean
}

export async function getFile(cli: Cli, { id, name }: File, place: Place): Promise<void> {
  await writeAll(cli, [{ name, pieces: await download(cli, { artifactId: id }) }], place)
}

export async function getFiles(cli: Cli, jobId: string, place: Place): Promise<void> {
  await writeAll(cli, readTar(await download(cli, { filesOfJob: jobId })), place)
}

interface Incoming {
  name: string
  pieces: AsyncIterable<Uint8Array>
}

async function* readTar(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Incoming> {
  const { createTarDecoder } = await import('modern-tar')
  // The package declares the streams of browsers.
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
  // git runs programs that its files name.
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
