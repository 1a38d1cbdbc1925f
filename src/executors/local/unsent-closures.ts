import { closeSync, fstatSync, readlinkSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { closureBytesMax, hasInfiniteNumber, isDeeperThan, jsonDepthMax } from '../../domain/closure.ts'
import { openIfExists, type RunFiles } from './spool.ts'

/**
 * Closures that a handler saved but no server has stored: one per line, the newest last. The file belongs to the
 * account of the job, so its content is validated like a closure sent by the job.
 */

/** Variable with the path of the file; read by the host of a handler (src/handler/unsent.ts). */
export const unsentClosureVariable = 'BERTH_UNSENT_CLOSURE'

const tailBytesMax = 2 * closureBytesMax + 2

/** Returns the newest unsent closure; null: all closures were sent. */
export function readUnsent({ unsentFile }: Pick<RunFiles, 'unsentFile'>): string | null {
  // Drops an incomplete last line.
  const lines = readTail(unsentFile)?.split('\n').slice(0, -1) ?? []
  for (const line of lines.toReversed()) {
    const closure = Buffer.byteLength(line) <= closureBytesMax ? parseClosure(line) : null
    if (closure !== null) return closure
  }
  return null
}

/** Returns null if the file is missing or empty. */
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

/** If the job has another account, the path is a link by the server to the directory of the file. */
function resolveTarget(path: string): string {
  try {
    return join(readlinkSync(path), basename(path))
  } catch {
    return path
  }
}

/** Returns the text of a valid closure, which the API would accept and the database can store; else null. */
function parseClosure(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line, demandStorable)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    // Serialises the parsed value again: the line may repeat a key, and only its last value was validated.
    return isObject && !isDeeperThan(value, jsonDepthMax) && !hasInfiniteNumber(value) ? JSON.stringify(value) : null
  } catch {
    return null
  }
}

function demandStorable(key: string, value: unknown): unknown {
  const texts = [key, value].filter((each) => typeof each === 'string')
  if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) throw new Error('Cannot store this text')
  return value
}
