import { BackendRefused } from '../backend/unreachable.ts'
import { type Engine, isNotFound } from './engine.ts'

/** Tar archives: the engine uses them to copy files into and out of containers. */

export interface ArchivedFile {
  path: string
  mode: number
  content?: Uint8Array
}

const blockBytes = 512

/** Makes an archive to unpack at the root of a container. */
export function archive(files: readonly ArchivedFile[]): Uint8Array {
  const blocks = files.flatMap(({ path, mode, content = new Uint8Array() }) => [
    header(path.slice(1), mode, content.length),
    content,
    Buffer.alloc(-content.length & (blockBytes - 1)),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)])
}

function header(name: string, mode: number, size: number): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  const fields: [number, string][] = [
    [0, name],
    [100, octal(mode, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(0, 11)],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\u000000'],
  ]
  for (const [at, text] of fields) block.write(text, at)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\u0000 `, 148)
  return block
}

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
  try {
    const found = await engine.readBeginning(`/containers/${container}/archive`, { path }, blockBytes + bytesMax)
    const size = Number.parseInt(found.toString('latin1', 124, 135), 8)
    return found.toString('utf8', blockBytes, blockBytes + size)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** `os.ModeDir` of Go; the engines are written in Go. */
const directoryBit = 2 ** 31

/** true: the path, after symbolic links, is a directory. */
export async function isDirectory(engine: Engine, container: string, path: string): Promise<boolean> {
  const archivePath = `/containers/${container}/archive`
  try {
    const headers = await engine.readHeaders(archivePath, { path: `${path}/.` })
    const stat = Buffer.from(String(headers?.['x-docker-container-path-stat'] ?? ''), 'base64').toString()
    return headers !== null && JSON.parse(stat).mode >= directoryBit
  } catch (error) {
    // Docker answers 500 for a path that leads through a file.
    if (error instanceof BackendRefused && (await engine.has(archivePath, { path }))) return false
    throw error
  }
}
