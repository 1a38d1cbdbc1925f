import { type Append, createAppender, type LogHead } from '../../src/logs/append.ts'
import type { LogPiece } from '../../src/logs/chunk.ts'
import type { Sql } from '../../src/platform/tx.ts'

/** An append that shares its statement with no other. */
export const append = (sql: Sql, head: LogHead, what: Append): Promise<LogHead> => createAppender(sql)(head, what)

export const out = (text: string | Buffer): LogPiece => ({ stream: 'STDOUT', bytes: Buffer.from(text) })
export const err = (text: string): LogPiece => ({ stream: 'STDERR', bytes: Buffer.from(text) })
