import type { Executor, Handle, LogChunk } from '../executors/executor.ts'
import { type Appender, type LogHead, makeEmptyLog, openLog } from '../logs/append.ts'
import type { Chunk, LogPiece } from '../logs/chunk.ts'
import { releaseBlock } from '../platform/blocks.ts'
import type { Sql } from '../platform/tx.ts'
import type { LogRedaction } from './log-redaction.ts'

/**
 * Copies the output of one run from its executor into the database. Each write stores the bytes and the executor's
 * position after them, so the next pump continues exactly there. Bytes that arrive during a write are buffered up to a
 * maximum: reading and writing overlap, and a busy run is written in large pieces.
 */

interface PumpOptions {
  sql: Sql
  append: Appender
  executor: Pick<Executor, 'logs'>
  redaction?: LogRedaction | null
  runId: string
  isFresh: boolean
  handle: Handle
  bytesMax: number
  /** Called after each write. The next write begins when the returned promise resolves. */
  onStored: (from: number, chunks: readonly Chunk[]) => Promise<unknown> | undefined
  /** Fires when the run is lost, so no more output will arrive. */
  lost?: AbortSignal
}

const gatheredBytesMax = 1024 * 1024
const bufferedBytesMax = 64 * 1024 * 1024
/** Buffered bytes of all pumps of this process, including writes in flight. */
let bufferedBytes = 0

/** Resolves after the last byte, or when `signal` fires. Rejects after a failed write. */
export async function pumpLog(options: PumpOptions, signal: AbortSignal): Promise<void> {
  const { sql, append, executor, redaction, runId, isFresh, handle, bytesMax, onStored, lost } = options
  const head = isFresh ? makeEmptyLog(runId) : await openLog(sql, runId)
  const failure = new AbortController()
  const writer = createWriter(head, { append, bytesMax, onStored, onFailed: () => failure.abort() })
  if (writer.sealed) return
  try {
    const ends = AbortSignal.any([signal, failure.signal, ...(lost ? [lost] : [])])
    const from = redaction ? redaction.open(writer.position) : writer.position
    const output = executor.logs(handle, from, ends)
    const isCut = () => signal.aborted || failure.signal.aborted
    for await (const chunk of redaction ? redaction.redact(output, isCut) : output) {
      await writer.add(chunk)
      if (signal.aborted) return
    }
    await writer.flushed()
  } finally {
    writer.close()
  }
}

type Writing = Pick<PumpOptions, 'append' | 'bytesMax' | 'onStored'> & { onFailed: () => void }

function createWriter(first: LogHead, { append, bytesMax, onStored, onFailed }: Writing) {
  let head = first
  let gathered: LogChunk[] = []
  let gatheredBytes = 0
  let held = 0
  let writing: Promise<void> | null = null
  let storing: Promise<void> | null = null

  function hold(bytes: number) {
    held += bytes
    bufferedBytes += bytes
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
    let handled: Promise<unknown> | undefined
    head = await append(head, {
      pieces: chunks.map(toPiece),
      position: chunks.at(-1)?.next,
      bytesMax,
      onStored: (stored) => {
        handled = onStored(from, stored)
      },
    })
    for (const chunk of chunks) if (!('gap' in chunk)) releaseBlock(chunk.bytes)
    const stored = chunks.reduce((sum, chunk) => sum + countBytes(chunk), 0)
    hold(-Math.min(stored, held))
    await handled
  }

  return {
    sealed: first.sealed,
    position: first.position,
    async add(chunk: LogChunk) {
      gathered.push(chunk)
      gatheredBytes += countBytes(chunk)
      hold(countBytes(chunk))
      writing ??= write()
      writing.catch(onFailed)
      if (gatheredBytes >= gatheredBytesMax || bufferedBytes >= bufferedBytesMax) await storing
    },
    async flushed() {
      await writing
    },
    close: () => hold(-held),
  }
}

const countBytes = (chunk: LogChunk) => ('gap' in chunk ? 0 : chunk.bytes.length)

const toPiece = (chunk: LogChunk): LogPiece =>
  'gap' in chunk ? { gap: chunk.gap, bytes: chunk.bytes } : { stream: chunk.stream, bytes: chunk.bytes }
