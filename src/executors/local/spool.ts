import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  read,
  readSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nullIfMissingSync, readErrorCode } from '../backend/file-errors.ts'
import type { Spool, Stream } from '../backend/spool-reader.ts'
import { removeLinkTarget } from './run-files.ts'
import { removeSnapshotCopies } from './snapshot-copy.ts'

/** Paths of the files of a run in the spool, which only the server's account may enter. */
export interface RunFiles {
  runId: string
  directory: string
  journal: string
  stdout: string
  stderr: string
  /** The node file, or a link to the directory that contains it. */
  nodeFile: string
  closureFile: string
  inputFile: string
  /** The file for unsent closures of a handler (unsent-closures.ts), or a link to its directory. */
  unsentFile: string
}

/** Returns null if the id is invalid. Only this function turns ids into paths. */
export function locateFiles(spoolDir: string, runId: string): RunFiles | null {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(runId)) return null
  const directory = join(spoolDir, 'runs', runId)
  return {
    runId,
    directory,
    journal: join(directory, 'journal'),
    stdout: join(directory, 'stdout'),
    stderr: join(directory, 'stderr'),
    nodeFile: join(directory, 'nodes'),
    closureFile: join(directory, 'closure.json'),
    inputFile: join(directory, 'input.json'),
    unsentFile: join(directory, 'unsent'),
  }
}

export async function removeFiles(files: RunFiles): Promise<void> {
  if (removeUsualFiles(files)) return
  for (const link of [files.nodeFile, files.closureFile, files.inputFile, files.unsentFile])
    await removeLinkTarget(link)
  await removeSnapshotCopies(files.directory)
  await rm(files.directory, { recursive: true, force: true })
}

/** Files up to this total size are removed synchronously, which takes 1 to 2 ms; 256 MiB took 30 to 70 ms. */
const syncRemoveBytesMax = 8 * 1024 * 1024

/**
 * Removes the files that most runs have, synchronously, which takes a tenth of the time. Returns whether no other files
 * are left.
 */
function removeUsualFiles(files: RunFiles): boolean {
  const { stdout, stderr, journal, directory } = files
  try {
    const sizes = readSizes(files)
    if (sizes.stdout + sizes.stderr > syncRemoveBytesMax) return false
    for (const file of [stdout, stderr, journal]) unlinkSync(file)
    rmdirSync(directory)
    return true
  } catch {
    return false
  }
}

export async function makeRuns(spoolDir: string): Promise<void> {
  await mkdir(join(spoolDir, 'runs'), { recursive: true, mode: 0o700 })
}

/** Creates the directory of the run, but not the directories above: if they do not exist, the spool is missing. */
export function makeRunFolder({ directory }: RunFiles): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST') throw error
  }
}

export const listRuns = (spoolDir: string): Promise<string[]> => readdir(join(spoolDir, 'runs'))

export function readSizes({ stdout, stderr }: RunFiles): { stdout: number; stderr: number } {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return { stdout: sizeOf(stdout), stderr: sizeOf(stderr) }
}

/** true: a reader of the output waits for free disk space (`await_room` of shim.sh). */
export const isWaitingForDisk = ({ directory }: RunFiles): boolean =>
  ['room.stdout', 'room.stderr'].some((name) => existsSync(join(directory, name)))

/** Smaller reads are synchronous: new lines are in the page cache, and the thread pool would take ten times as long. */
const syncReadBytesMax = 16_384

/**
 * Opens the spool; null: its files are missing. Sizes are read synchronously: this takes a few µs, and most polls find
 * nothing new.
 */
export function openSpool({ stdout, stderr }: RunFiles): (Spool & { close(): void }) | null {
  const [out, err] = [openIfExists(stdout), openIfExists(stderr)]
  const close = () => {
    for (const file of [out, err]) if (file !== null) closeSync(file)
  }
  if (out === null || err === null) {
    close()
    return null
  }
  const sizeOf = (stream: Stream) => fstatSync({ out, err }[stream]).size
  return {
    async read(stream, buffer, at) {
      const unread = sizeOf(stream) - at
      if (unread <= 0) return 0
      const file = { out, err }[stream]
      if (unread <= syncReadBytesMax) return readSync(file, buffer, 0, buffer.length, at)
      return (await readFrom(file, buffer, 0, buffer.length, at)).bytesRead
    },
    size: async (stream) => sizeOf(stream),
    close,
  }
}

const readFrom = promisify(read)

/** Returns null if the file is missing. */
export const openIfExists = (path: string): number | null => nullIfMissingSync(() => openSync(path, 'r'))
