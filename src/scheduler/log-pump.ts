import type { Executor, Handle, LogChunk } from '../executors/executor.ts'
import { type Appender, emptyLog, type LogHead, openLog } from '../logs/append.ts'
import type { Chunk, LogPiece } from '../logs/chunk.ts'
import { releaseBlock } from '../platform/blocks.ts'
import type { Sql } from '../platform/tx.ts'

/**
 * Carries the output of one run from its executor into the database. The executor's position is stored with the bytes
 * before it, so the next pump continues exactly there. The first bytes after a pause are written at once; during a
 * write the next ones gather, up to a bound at which the executor is not asked for more until the next write has taken
 * them. So reading and writing go on side by side, and all writes of a busy run are large. All pumps of a process have a
 * bound together, at which none gathers.
 */

export interface PumpOptions {
  sql: Sql
  append: Appender
  executor: Pick<Executor, 'logs'>
  runId: string
  /** It was started a moment ago, for the first time. */
  isFresh: boolean
  handle: Handle
  bytesMax: number
  /** Gets the chunks that were stored from an offset on. The next ones are stored when its promise resolves. */
  onStored: (from: number, chunks: readonly Chunk[]) => Promise<unknown> | undefined
}

const gatheredBytesMax = 1024 * 1024
const heldByAllMax = 64 * 1024 * 1024
/** Bytes that are gathered or being stored, of all pumps. */
let heldByAll = 0

/** Resolves when the executor has given the last byte, or when `signal` fires. Rejects soon after a write has failed. */
export async function pumpLog(
  { sql, append, executor, runId, isFresh, handle, bytesMax, onStored }: PumpOptions,
  signal: AbortSignal,
): Promise<void> {
  const head = isFresh ? emptyLog(runId) : await openLog(sql, runId)
  const failure = new AbortController()
  const writer = createWriter(head, { append, bytesMax, onStored, onFailed: () => failure.abort() })
  if (writer.sealed) return
  try {
    for await (const chunk of executor.logs(handle, writer.position, AbortSignal.any([signal, failure.signal]))) {
      await writer.add(chunk)
      if (signal.aborted) return
    }
    await writer.flushed()
  } finally {
    writer.close()
  }
}

interface Writing extends Pick<PumpOptions, 'append' | 'bytesMax' | 'onStored'> {
  /** `add` or `flushed` throws why. */
  onFailed: () => void
}

function createWriter(first: LogHead, { append, bytesMax, onStored, onFailed }: Writing) {
  let head = first
  let gathered: LogChunk[] = []
  let gatheredBytes = 0
  let held = 0
  /** All writes until nothing is gathered, and the one that runs. */
  let writing: Promise<void> | null = null
  let storing: Promise<void> | null = null

  function hold(bytes: number) {
    held += bytes
    heldByAll += bytes
  }

  async function write() {
    while (gathered.length > 0) {
      storing = store(gathered)
      gathered = []
      gatheredBytes = 0
      await storing
    }
    writing = null
  }

  async function store(chunks: readonly LogChunk[]) {
    const from = head.end
    let told: Promise<unknown> | undefined
    head = await append(head, {
      pieces: chunks.map(pieceOf),
      position: chunks.at(-1)?.next,
      bytesMax,
      onStored: (stored) => {
        told = onStored(from, stored)
      },
    })
    for (const chunk of chunks) if (!('gap' in chunk)) releaseBlock(chunk.bytes)
    const stored = chunks.reduce((sum, chunk) => sum + sizeOf(chunk), 0)
    hold(-Math.min(stored, held))
    await told
  }

  return {
    sealed: first.sealed,
    position: first.position,
    async add(chunk: LogChunk) {
      gathered.push(chunk)
      gatheredBytes += sizeOf(chunk)
      hold(sizeOf(chunk))
      writing ??= write()
      writing.catch(onFailed)
      if (gatheredBytes >= gatheredBytesMax || heldByAll >= heldByAllMax) await storing
    },
    async flushed() {
      await writing
    },
    /** What was not stored is held no longer. */
    close: () => hold(-held),
  }
}

const sizeOf = (chunk: LogChunk) => ('gap' in chunk ? 0 : chunk.bytes.length)

const pieceOf = (chunk: LogChunk): LogPiece =>
  'gap' in chunk ? { gap: chunk.gap, bytes: chunk.bytes } : { stream: chunk.stream, bytes: chunk.bytes }
