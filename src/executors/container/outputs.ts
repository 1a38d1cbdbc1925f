import { basename, join } from 'node:path/posix'
import type { FoundOutput, OutputFile, Unread } from '../../domain/outputs/found.ts'
import { isInside } from '../backend/data-mounts.ts'
import { readTarFiles } from '../backend/tar-files.ts'
import { type Engine, isNotFound } from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/**
 * Reads the output files of a stopped container from the archive of its working directory. The engine reads as root, so
 * files of mounts are left out: the job may not be allowed to read them.
 */

/** The engine sends also what is not wanted, such as a sparse file of any size. */
const unwantedBytesMax = 64 * 1024 ** 3

export async function* readContainerOutputs(
  engine: Engine,
  { Id: id, Config, Mounts }: Inspected,
  pick: (found: FoundOutput) => boolean,
  signal: AbortSignal,
): AsyncGenerator<OutputFile | Unread> {
  const folder = Config.Labels?.[labels.workdir]
  if (folder === undefined) return
  const mounts = (Mounts ?? []).flatMap(({ Destination: target }) => target ?? [])
  if (folder === '/' || mounts.some((target) => isInside(folder, target)))
    return yield { unread: `the working directory is ${folder}, in the root or in data, from which no files are kept` }
  const archive = await engine
    .getStream(`/containers/${id}/archive`, signal, { path: folder })
    .catch((error: unknown) => (isNotFound(error) ? null : Promise.reject(error)))
  if (archive === null) return yield { unread: 'the working directory does not exist' }
  let unwanted = 0
  for await (const { content, ...found } of readTarFiles(archive)) {
    const path = toRelative(found.path, folder)
    const isKept = !mounts.some((target) => isInside(join(folder, path), target)) && pick({ ...found, path })
    if (isKept) yield { path, content }
    else unwanted += found.size
    if (unwanted > unwantedBytesMax)
      return yield { unread: `the working directory has more than ${unwantedBytesMax} bytes of other files` }
  }
}

/** The paths of an archive begin with the name of the folder. */
function toRelative(path: string, folder: string): string {
  const prefix = path.startsWith('./') ? './' : `${basename(folder)}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}
