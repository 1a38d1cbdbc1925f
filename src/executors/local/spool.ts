import { statSync } from 'node:fs'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool } from '../follow.ts'
import { isMissingFile } from './journal.ts'
import { removeLinked } from './run-files.ts'

/** Paths of the files of a run, in the spool, which only the account of the server may enter. */
export interface RunFiles {
  runId: string
  directory: string
  journal: string
  stdout: string
  stderr: string
  /** One file for all runs: shims append the run's id when it is over. */
  ended: string
  /** The node file, or a link to its directory. */
  nodeFile: string
  /** The same for the closure of an earlier run, and for the input of a handler. */
  closureFile: string
  inputFile: string
}

/** null: not a valid run id. Ids become paths only here. */
export function filesOf(spoolDir: string, runId: string): RunFiles | null {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(runId)) return null
  const directory = join(spoolDir, 'runs', runId)
  return {
    runId,
    directory,
    journal: join(directory, 'journal'),
    stdout: join(directory, 'stdout'),
    stderr: join(directory, 'stderr'),
    ended: endedList(spoolDir),
    nodeFile: join(directory, 'nodes'),
    closureFile: join(directory, 'closure.json'),
    inputFile: join(directory, 'input.json'),
  }
}

export const endedList = (spoolDir: string) => join(spoolDir, 'ended')

export async function removeFiles(files: RunFiles): Promise<void> {
  for (const link of [files.nodeFile, files.closureFile, files.inputFile]) await removeLinked(link)
  await rm(files.directory, { recursive: true, force: true })
}

/** Ids of the runs that have files here. */
export const listRuns = (spoolDir: string): Promise<string[]> => readdir(join(spoolDir, 'runs'))

/** Bytes of output in the spool. */
export function sizesOf({ stdout, stderr }: RunFiles): { stdout: number; stderr: number } {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return { stdout: sizeOf(stdout), stderr: sizeOf(stderr) }
}

/** null: its files are gone. */
export async function openSpool({ stdout, stderr }: RunFiles): Promise<(Spool & { close(): Promise<void> }) | null> {
  const handles = await Promise.all([stdout, stderr].map(openFile))
  const close = async () => {
    await Promise.all(handles.map((handle) => handle?.close()))
  }
  const [out, err] = handles
  if (!out || !err) {
    await close()
    return null
  }
  const files = { out, err }
  return {
    read: async (stream, buffer, at) => (await files[stream].read(buffer, 0, buffer.length, at)).bytesRead,
    size: async (stream) => (await files[stream].stat()).size,
    close,
  }
}

async function openFile(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}
