import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { RunFiles } from './spool.ts'

/**
 * Closures that a handler has saved and that no server has stored, one a line, the newest last. The host appends a line
 * before it sends, and empties the file when the newest is stored, so what a killed handler leaves here is not stored yet.
 * The file belongs to the account of the job, so its content is checked like a closure that the job sends.
 */

/** Names the file to the host of a handler (src/handler/unsent.ts). */
export const unsentVariable = 'BERTH_UNSENT_CLOSURE'

const closureBytesMax = 256 * 1024
const tailBytesMax = 2 * closureBytesMax + 2

/** null: everything was sent. */
export function readUnsent({ unsentFile }: Pick<RunFiles, 'unsentFile'>): string | null {
  // After the last line feed there is nothing, or a line that was cut off.
  const lines = readTail(unsentFile)?.split('\n').slice(0, -1) ?? []
  return lines.findLast((line) => Buffer.byteLength(line) <= closureBytesMax && isClosure(line)) ?? null
}

/** null: there is no such plain file, or it is empty. */
function readTail(path: string): string | null {
  const file = open(path)
  if (file === null) return null
  try {
    const { size } = fstatSync(file)
    const buffer = Buffer.alloc(Math.min(size, tailBytesMax))
    const bytes = readSync(file, buffer, 0, buffer.length, size - buffer.length)
    return bytes === 0 ? null : buffer.toString('utf8', 0, bytes)
  } finally {
    closeSync(file)
  }
}

function open(path: string): number | null {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  try {
    const file = openSync(targetOf(path), flags)
    if (fstatSync(file).isFile()) return file
    closeSync(file)
    return null
  } catch {
    return null
  }
}

/** Of a job of another account the path is a link of the server to the directory of the file. */
function targetOf(path: string): string {
  try {
    return join(readlinkSync(path), basename(path))
  } catch {
    return path
  }
}

/** An object that the database can store. */
function isClosure(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line, demandStorable)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function demandStorable(key: string, value: unknown): unknown {
  const texts = [key, value].filter((each) => typeof each === 'string')
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) throw new Error('Not storable')
  return value
}
