import { closeSync, fstatSync, readlinkSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { closureBytesMax, hasInfinite, isDeeper, jsonDepthMax } from '../../domain/closure.ts'
import { openIfExists, type RunFiles } from './spool.ts'

/**
 * Closures that a handler has saved and that no server has stored, one per line, the newest last. The file belongs to
 * the account of the job, so its content is checked like a closure that the job sends.
 */

/** Names the file to the host of a handler (src/handler/unsent.ts). */
export const unsentVariable = 'BERTH_UNSENT_CLOSURE'

const tailBytesMax = 2 * closureBytesMax + 2

/** null: everything was sent. */
export function readUnsent({ unsentFile }: Pick<RunFiles, 'unsentFile'>): string | null {
  // Text after the last line feed is a line that was cut off.
  const lines = readTail(unsentFile)?.split('\n').slice(0, -1) ?? []
  for (const line of lines.toReversed()) {
    const closure = Buffer.byteLength(line) <= closureBytesMax ? parseClosure(line) : null
    if (closure !== null) return closure
  }
  return null
}

/** null: the file is missing or empty. */
function readTail(path: string): string | null {
  const file = openIfExists(resolveTarget(path))
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

/** For a job of another account the path is a link of the server to the directory of the file. */
function resolveTarget(path: string): string {
  try {
    return join(readlinkSync(path), basename(path))
  } catch {
    return path
  }
}

/** The text of a closure that the API would accept and the database can store; null: the line is not such a closure. */
function parseClosure(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line, demandStorable)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    // The parsed value is written again: the line may repeat a name, with a first value that was not checked.
    return isObject && !isDeeper(value, jsonDepthMax) && !hasInfinite(value) ? JSON.stringify(value) : null
  } catch {
    return null
  }
}

function demandStorable(key: string, value: unknown): unknown {
  const texts = [key, value].filter((each) => typeof each === 'string')
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) throw new Error('Not storable')
  return value
}
