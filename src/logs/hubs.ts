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
 * State that the readers of one run share. A hub knows the end of the run's log (`state`: undefined before the first read,
 * null when the job is gone) and keeps its newest chunks in a ring; readers that follow live take them from there, and
 * those that are behind read their own pages. One loop reads the state of all hubs of the process with one statement, and
 * fetches new chunks of all with one more, at every wake-up `log` and every `pollMs`: the number of statements does not
 * depend on the number of readers. Output that this process stores goes into the rings without a read (fresh-output.ts).
 * Chunks are fetched only for runs with a waiting reader; the other rings only move their end. A run without
 * readers has neither hub nor timer. A read may find a shorter log or another run, after a failover to a standby that lost
 * transactions: then the ring begins again.
 */

export interface RunHub {
  readonly jobId: string
  readonly run: number
  readonly bell: Bell
  state: RunState | null | undefined
  /** The newest chunks from `offset` on; null: they are not in the ring. */
  chunksFrom(offset: number): Stored[] | null
  /** A reader has taken from the ring what lies before this offset. */
  took(offset: number): void
  /** Batches that were cut since the last change, so that readers at the same place share them. */
  readonly passages: Map<string, Passage>
}

export interface Hubs {
  open(jobId: string, run: number): RunHub
  close(hub: RunHub): void
}

export interface HubsOptions {
  db: Db
  wakeups: Pick<Wakeups<'log'>, 'on'>
  clock: Clock
  time: Time
  log: Log
  /** Absent: this process stores no output. */
  fresh?: Pick<FreshOutput, 'on'> | undefined
}

const pollMs = 1_000
/** Between two looks at least, and as long as the last look took: half of the time at most is spent on looking. */
const lookGapMs = 5
/** Unpacked bytes that one run's ring keeps at most. */
const ringBytesMax = 2_097_152
/** A reader so close behind is still in the ring when a pump has stored all that it can have gathered. */
const closeBytes = 786_432
/** How long a pump waits for a reader that is in the ring and not as close. */
const patienceMs = 50
const ringChunksMax = 1_024
/** Chunks that one look fetches per run, and for all runs. */
const runChunksMax = 16
const lookChunksMax = 256

interface SharedHub extends RunHub {
  readonly key: string
  readers: number
  ring: Ring | undefined
  /** Where the first reader is. */
  taken: number
  readonly taking: Bell
}

interface Ring {
  /** null: the run has no log yet. */
  runId: string | null
  chunks: Chunk[]
  end: number
  bytes: number
}

export function createHubs({ db, wakeups, clock, log, fresh }: HubsOptions): Hubs {
  const hubs = new Map<string, SharedHub>()
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

  /** The first output of a run concerns the readers of the run before it as well. */
  function take(output: FreshChunks) {
    const hub = hubs.get(keyOf(output))
    if (output.from === 0 || (hub && !joinFresh(hub, output))) looking?.loop.wake()
    else if (hub?.ring) return untilClose(hub, hub.ring)
    return undefined
  }

  /** A reader that stopped is waited for until its place has left the ring: after a few writes. */
  async function untilClose(hub: SharedHub, { end, bytes }: Ring) {
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
      // Fresh output came during the look.
      if (state && known !== before[place] && endOf(state) < endOf(known)) continue
      advanceRing(hub, state, fetched.get(hub.key) ?? [])
      hub.state = state
      if (JSON.stringify(state) !== JSON.stringify(known)) tellReaders(hub)
    }
    await clock.sleep(Math.max(lookGapMs, clock.monotonicMs() - began), signal)
  }

  return {
    open(jobId, run) {
      const key = keyOf({ jobId, run })
      const hub = hubs.get(key) ?? createHub(key, { jobId, run, clock })
      hub.readers += 1
      hubs.set(key, hub)
      if (looking) looking.loop.wake()
      else start()
      return hub
    },
    close({ jobId, run }) {
      const hub = hubs.get(keyOf({ jobId, run }))
      if (!hub || --hub.readers > 0) return
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

function tellReaders(hub: SharedHub) {
  hub.passages.clear()
  hub.bell.ring()
}

function createHub(key: string, { jobId, run, clock }: { jobId: string; run: number; clock: Clock }): SharedHub {
  const hub: SharedHub = {
    key,
    jobId,
    run,
    readers: 0,
    ring: undefined,
    taken: 0,
    taking: createBell(clock),
    bell: createBell(clock),
    state: undefined,
    passages: new Map(),
    took(offset) {
      if (offset <= hub.taken) return
      hub.taken = offset
      hub.taking.ring()
    },
    chunksFrom(offset) {
      const chunks = hub.ring?.chunks ?? []
      const first = chunks.findLastIndex((chunk) => chunk.start <= offset)
      return first < 0 || hub.ring?.end !== hub.state?.log?.end ? null : chunks.slice(first)
    },
  }
  return hub
}

type Look = { hub: SharedHub; state: RunState | null }

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

/** New chunks that reach from the ring's end to the log's end join it; otherwise the ring starts again, empty, at the end. */
function advanceRing(hub: SharedHub, state: RunState | null, fetched: readonly Chunk[]) {
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

/** false: the hub has to look, because it does not know what lies before. */
function joinFresh(hub: SharedHub, { runId, from, chunks }: FreshChunks): boolean {
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
