import { type Bell, createBell } from '../platform/bell.ts'
import { holdBlock, releaseBlock } from '../platform/blocks.ts'
import type { Clock, Time } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createLoop, type Loop } from '../platform/loop.ts'
import type { Wakeups } from '../platform/wakeup.ts'
import type { Passage } from './batch.ts'
import { type BytesChunk, type Chunk, type ChunkRow, chunkColumns, readChunk } from './chunk.ts'
import type { FreshChunks, FreshOutput } from './fresh-output.ts'
import { type RunState, readLogStates, type Stored, toFresh } from './stored.ts'

/**
 * State that the readers of one run share: the end of the log and, in a ring, its newest chunks. Live readers take
 * chunks from the ring; readers that are behind it read pages of the database. One loop reads the state of all hubs
 * with one statement, and new chunks of runs with waiting readers with another, so the number of statements does not
 * depend on the number of readers. Output of this process enters the rings without a read (fresh-output.ts). If a read
 * finds a shorter log or another run, the ring starts again, because a failover lost transactions.
 */

export class RunHub {
  readonly jobId: string
  readonly run: number
  readonly key: string
  readonly bell: Bell
  readonly taking: Bell
  /** undefined: the state is not read yet; null: the job was deleted. */
  state: RunState | null | undefined
  /** Batches that were cut since the last change, for other readers at the same offset. */
  readonly passages = new Map<string, Passage>()
  readers = 0
  ring: Ring | undefined
  /** Offset of the reader that is furthest ahead. */
  taken = 0

  constructor({ jobId, run }: { jobId: string; run: number }, clock: Clock) {
    this.jobId = jobId
    this.run = run
    this.key = keyOf(this)
    this.bell = createBell(clock)
    this.taking = createBell(clock)
  }

  /** Called when a reader has taken the bytes before `offset` from the ring. */
  took(offset: number): void {
    if (offset <= this.taken) return
    this.taken = offset
    this.taking.ring()
  }

  /** Returns the newest chunks from `offset` on, or null if the ring does not have them. */
  chunksFrom(offset: number): Stored[] | null {
    const chunks = this.ring?.chunks ?? []
    const first = chunks.findLastIndex((chunk) => chunk.start <= offset)
    return first < 0 || this.ring?.end !== this.state?.log?.end ? null : chunks.slice(first)
  }
}

export type Hubs = ReturnType<typeof createHubs>

export interface HubsOptions {
  db: Db
  wakeups: Pick<Wakeups<'log'>, 'on'>
  clock: Clock
  time: Time
  log: Log
  fresh?: Pick<FreshOutput, 'on'> | undefined
}

const pollMs = 1_000
/** Minimum pause between two reads. The pause is at least as long as the last read took. */
const lookGapMs = 5
/** Maximum unpacked bytes in the ring of one run. */
const ringBytesMax = 2_097_152
/** If a reader is this close to the end, the ring still has its chunks after the next write of a pump. */
const closeBytes = 786_432
/** Maximum time that a pump waits for a reader that is in the ring and not as close. */
const patienceMs = 50
const ringChunksMax = 1_024
/** Maximum number of chunks that one read fetches per run, and for all runs. */
const runChunksMax = 16
const lookChunksMax = 256

interface Ring {
  runId: string | null
  chunks: Chunk[]
  end: number
  bytes: number
}

export function createHubs({ db, wakeups, clock, log, fresh }: HubsOptions) {
  const hubs = new Map<string, RunHub>()
  let looking: { loop: Loop; unlisten: () => void } | undefined

  function start() {
    const loop = createLoop({ name: 'log tail', pollMs, runOnce: look, clock, log })
    const listening = [wakeups.on('log', loop.wake), fresh?.on(take)]
    const unlisten = () => {
      for (const leave of listening) leave?.()
    }
    looking = { loop, unlisten }
    loop.start()
  }

  /** Adds output of this process to its ring. The first output of a run also wakes the readers of the run before it. */
  function take(output: FreshChunks) {
    const hub = hubs.get(keyOf(output))
    if (output.from === 0 || (hub && !joinFresh(hub, output))) looking?.loop.wake()
    else if (hub?.ring) return untilClose(hub, hub.ring)
    return undefined
  }

  /** Waits until the first reader is close to the end of the ring. A stopped reader delays only a few writes. */
  async function untilClose(hub: RunHub, { end, bytes }: Ring) {
    const dueMs = clock.monotonicMs() + patienceMs
    const isAwaited = () => hub.taken >= end - bytes && hub.taken < end - closeBytes
    for (let leftMs = patienceMs; isAwaited() && leftMs > 0; leftMs = dueMs - clock.monotonicMs())
      await hub.taking.wait(leftMs, never)
  }

  async function look(signal: AbortSignal) {
    const began = clock.monotonicMs()
    const watched = [...hubs.values()]
    const before = watched.map(({ state }) => state)
    const states = await readLogStates(db.sql, watched)
    const looks = watched.map((hub, place) => ({ hub, state: states[place] ?? null }))
    const fetched = await fetchNew(db, looks)
    for (const [place, { hub, state }] of looks.entries()) {
      const known = hub.state
      // Fresh output arrived during the read.
      if (state && known !== before[place] && endOf(state) < endOf(known)) continue
      advanceRing(hub, state, fetched.get(hub.key) ?? [])
      hub.state = state
      if (JSON.stringify(state) !== JSON.stringify(known)) tellReaders(hub)
    }
    await clock.sleep(Math.max(lookGapMs, clock.monotonicMs() - began), signal)
  }

  return {
    open(jobId: string, run: number): RunHub {
      const hub = hubs.get(keyOf({ jobId, run })) ?? new RunHub({ jobId, run }, clock)
      hub.readers += 1
      hubs.set(hub.key, hub)
      if (looking) looking.loop.wake()
      else start()
      return hub
    },
    close(hub: RunHub): void {
      if (--hub.readers > 0) return
      hubs.delete(hub.key)
      if (hubs.size > 0 || !looking) return
      looking.unlisten()
      void looking.loop.stop()
      looking = undefined
    },
  }
}

const never = new AbortController().signal
const keyOf = ({ jobId, run }: { jobId: string; run: number }) => `${jobId}/${run}`
const endOf = (state: RunState | null | undefined) => state?.log?.end ?? 0

function tellReaders(hub: RunHub) {
  hub.passages.clear()
  hub.bell.ring()
}

type Look = { hub: RunHub; state: RunState | null }

async function fetchNew(db: Db, looks: readonly Look[]): Promise<Map<string, Chunk[]>> {
  const wanted = looks.flatMap(({ hub, state }) =>
    hub.ring && hub.bell.waiting > 0 && state?.log && state.log.end > hub.ring.end && isOfRun(hub.ring, state)
      ? [{ key: hub.key, runId: state.log.runId, from: hub.ring.end }]
      : [],
  )
  const fetched = new Map<string, Chunk[]>(wanted.map(({ key }) => [key, []]))
  if (wanted.length === 0) return fetched
  const rows = await db.sql.query<ChunkRow & { place: number }>(
    newChunksSql,
    [wanted.map(({ runId }) => runId), wanted.map(({ from }) => from), runChunksMax, lookChunksMax],
    'log_new_chunks',
  )
  for (const row of rows) fetched.get(wanted[row.place - 1]?.key ?? '')?.push(readChunk(row))
  return fetched
}

const newChunksSql = `
SELECT w.place, ${chunkColumns}
FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w(run_id, from_offset, place)
CROSS JOIN LATERAL (
  SELECT * FROM log_chunk WHERE run_id = w.run_id AND start_offset >= w.from_offset ORDER BY start_offset LIMIT $3
) c ORDER BY w.place, c.start_offset LIMIT $4`

/** Appends new chunks if they reach from the ring's end to the end of the log. Otherwise the ring is emptied. */
function advanceRing(hub: RunHub, state: RunState | null, fetched: readonly Chunk[]) {
  const end = state?.log?.end ?? 0
  const runId = state?.log?.runId ?? null
  const { ring } = hub
  const chunks = fetched.filter((chunk) => chunk.start < end)
  const joins = chunks[0]?.start === ring?.end && chunks.at(-1)?.end === end
  if (!ring || !isOfRun(ring, state) || (ring.end !== end && !joins)) {
    hub.ring = { runId, chunks: [], end, bytes: 0 }
    return
  }
  ring.runId = runId
  if (ring.end !== end) extend(ring, chunks, end)
}

const isOfRun = ({ runId }: Ring, state: RunState | null) => runId === null || runId === state?.log?.runId

function extend(ring: Ring, chunks: readonly Chunk[], end: number) {
  ring.chunks.push(...chunks)
  ring.bytes += sizeOf(chunks)
  ring.end = end
  toFresh(chunks).forEach(holdBlock)
  while ((ring.bytes > ringBytesMax || ring.chunks.length > ringChunksMax) && ring.chunks.length > 1) {
    const oldest = ring.chunks.splice(0, 1)
    ring.bytes -= sizeOf(oldest)
    toFresh(oldest).forEach(releaseBlock)
  }
}

/** Returns false if the state must be read from the database. */
function joinFresh(hub: RunHub, { runId, from, chunks }: FreshChunks): boolean {
  const { state, ring } = hub
  const end = chunks.at(-1)?.end
  if (
    !state ||
    !ring ||
    end === undefined ||
    ring.end !== from ||
    endOf(state) !== from ||
    (ring.runId ?? runId) !== runId
  )
    return false
  ring.runId = runId
  extend(ring, chunks, end)
  hub.state = { ...state, log: { runId, end, sealed: false } }
  tellReaders(hub)
  return true
}

const sizeOf = (chunks: readonly Chunk[]) =>
  chunks.reduce((sum, chunk) => sum + (isBytes(chunk) ? chunk.end - chunk.start : 0), 0)
const isBytes = (chunk: Chunk): chunk is BytesChunk => chunk.gap === null
