import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readErrorCode } from '../backend/file-errors.ts'

/**
 * Opens a file of the spool; null: at this path is none. A job of the server's account may have put something else in its place,
 * such as a pipe, whose opening would wait for the other end and hold the whole server.
 */
export function openPlain(path: string, flags: number = constants.O_RDONLY): number | null {
  let file: number
  try {
    file = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    if (noFile.has(String(readErrorCode(error)))) return null
    throw error
  }
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  return null
}

/**
 * Nothing is there, or a link, a pipe without a reader, a socket or a folder; its folder is a file, or was closed to this account.
 */
const noFile: ReadonlySet<string> = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'ENOTDIR', 'EACCES'])
