import { packTar } from 'modern-tar'
import { BackendRefused, ignoreNotFound } from '../backend/unreachable.ts'
import type { Engine } from './engine.ts'

/** Tar archives: the engine uses them to copy files into and out of containers. */

export interface ArchivedFile {
  path: string
  mode: number
  text?: string | Uint8Array
}

/** Makes an archive to unpack at the root of a container. */
export const archive = (files: readonly ArchivedFile[]): Promise<Uint8Array> =>
  packTar(
    files.map(({ path, mode, text = '' }) => {
      const body = Buffer.from(text)
      return { header: { name: path.slice(1), mode, size: body.length, mtime: new Date(0) }, body }
    }),
  )

const blockBytes = 512
const fileBytesMax = 64

interface FileInContainer {
  container: string
  path: string
  bytesMax?: number
}

/** Returns the text of a file; null: the file does not exist. Also works before and after the run of the container. */
export async function readFile(
  engine: Engine,
  { container, path, bytesMax = fileBytesMax }: FileInContainer,
): Promise<string | null> {
  const found = await engine
    .readBeginning(`/containers/${container}/archive`, { path }, blockBytes + bytesMax)
    .catch(ignoreNotFound)
  if (!found) return null
  const size = Number.parseInt(found.toString('latin1', 124, 135), 8)
  return found.toString('utf8', blockBytes, blockBytes + size)
}

interface PathStat {
  /** The type `os.FileMode` of Go, the language of the engines. */
  mode?: number
  linkTarget?: string
}

/** null: the path does not exist in the container. */
export async function readPathStat(engine: Engine, container: string, path: string): Promise<PathStat | null> {
  const headers = await engine.readHeaders(`/containers/${container}/archive`, { path }).catch(ignoreNotFound)
  const stat = headers?.['x-docker-container-path-stat'] ?? 'e30='
  return headers && (JSON.parse(Buffer.from(String(stat), 'base64').toString()) as PathStat)
}

export const hasPath = async (engine: Engine, container: string, path: string): Promise<boolean> =>
  (await readPathStat(engine, container, path)) !== null

/** `os.ModeDir`. */
const directoryBit = 2 ** 31

/** true: the path, after symbolic links, is a directory. */
export async function isDirectory(engine: Engine, container: string, path: string): Promise<boolean> {
  try {
    return ((await readPathStat(engine, container, `${path}/.`))?.mode ?? 0) >= directoryBit
  } catch (error) {
    // Docker returns 500 for a path that leads through a file.
    if (error instanceof BackendRefused && (await hasPath(engine, container, path))) return false
    throw error
  }
}
