import { basename, join } from 'node:path/posix'
import type { FoundOutput, OutputFile, Unread } from '../../domain/outputs/found.ts'
import { isInside } from '../backend/data-mounts.ts'
import { readTarFiles } from '../backend/tar-files.ts'
import { ignoreNotFound } from '../backend/unreachable.ts'
import { readPathStat } from './archive.ts'
import type { Engine } from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/**
 * Reads the output files of a stopped container from the archive of its working directory. The engine reads as root, so
 * files of mounts are left out: the job may not be allowed to read them.
 */

/** The engine also sends files that were not selected, such as a sparse file of any size. */
const unwantedBytesMax = 64 * 1024 ** 3
/** Each hard link needs another request. */
const hardLinksMax = 1_000

interface Place {
  engine: Engine
  id: string
  signal: AbortSignal
}

export async function* readContainerOutputs(
  engine: Engine,
  { Id: id, Config, Mounts }: Inspected,
  pick: (found: FoundOutput) => boolean,
  signal: AbortSignal,
): AsyncGenerator<OutputFile | Unread> {
  const folder = Config.Labels?.[labels.workdir]
  if (folder === undefined) return
  const place = { engine, id, signal }
  const mounts = (Mounts ?? []).flatMap(({ Destination: target }) => target ?? [])
  const refusal = await findRefusal(place, folder, mounts)
  if (refusal !== null) return yield { unread: refusal }
  const archive = await openArchive(place, folder)
  if (archive === null) return yield { unread: 'the working directory does not exist' }
  const hardLinks: string[] = []
  let unwanted = 0
  for await (const { content, ...found } of readTarFiles(archive)) {
    const path = toRelative(found.path, folder)
    const { type, size } = found
    const isOwn = !mounts.some((target) => isInside(join(folder, path), target))
    if (type === 'HARD_LINK') {
      if (isOwn && pick({ path, type: 'FILE', size: null })) hardLinks.push(path)
    } else if (isOwn && pick({ path, type, size })) yield { path, content }
    else unwanted += size
    if (unwanted > unwantedBytesMax)
      return yield { unread: `the working directory has more than ${unwantedBytesMax} bytes of other files` }
  }
  for (const path of hardLinks.slice(0, hardLinksMax)) yield* readHardLink(place, folder, path, pick)
  const more = hardLinks.length - hardLinksMax
  if (more > 0) yield { unread: `${more} files are hard links, of which ${hardLinksMax} are kept` }
}

/** The archive of a folder contains a file with several names only once. The container keeps the file until the end. */
async function* readHardLink(
  place: Place,
  folder: string,
  path: string,
  pick: (found: FoundOutput) => boolean,
): AsyncGenerator<OutputFile | Unread> {
  const archive = await openArchive(place, join(folder, path))
  if (archive === null) return yield { unread: `${JSON.stringify(path)} is a hard link that cannot be read` }
  for await (const { type, size, content } of readTarFiles(archive))
    if (pick({ path, type: type === 'HARD_LINK' ? 'OTHER' : type, size })) yield { path, content }
}

const openArchive = ({ engine, id, signal }: Place, path: string) =>
  engine.getStream(`/containers/${id}/archive`, signal, { path }).catch(ignoreNotFound)

async function findRefusal(place: Place, folder: string, mounts: readonly string[]): Promise<string | null> {
  if (folder === '/' || mounts.some((target) => isInside(folder, target)))
    return `the working directory is ${folder}, in the root or in data, from which no files are kept`
  const link = mounts.length === 0 ? null : await findLink(place, [folder, ...mounts])
  return link && `${link} is a symbolic link in the container, so that its data cannot be told from its own files`
}

/** `os.ModeSymlink`. */
const linkMode = 2 ** 27

/**
 * Finds the first symbolic link in these paths. The engine follows links, including those of the job: the working
 * directory may be in a mount, or a mount in the working directory, although their paths differ.
 */
async function findLink({ engine, id }: Place, paths: readonly string[]): Promise<string | null> {
  for (const path of new Set(paths.flatMap(listPrefixes))) {
    const { mode = 0, linkTarget = '' } = (await readPathStat(engine, id, path)) ?? {}
    // Podman returns the path itself as the link target, unless it is a link.
    if (Math.floor(mode / linkMode) % 2 === 1 || (linkTarget !== '' && linkTarget !== path)) return path
  }
  return null
}

/** `/a/b` → `/a`, `/a/b`. */
const listPrefixes = (path: string): string[] =>
  path.split('/').flatMap((part, at, parts) => (part === '' ? [] : [parts.slice(0, at + 1).join('/')]))

/** Paths in the archive of a folder begin with its name. */
function toRelative(path: string, folder: string): string {
  const prefix = path.startsWith('./') ? './' : `${basename(folder)}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}
