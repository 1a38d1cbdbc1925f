import { createHash } from 'node:crypto'
import type { Domain } from '../domain/domain.ts'
import { NotFound } from '../domain/errors.ts'
import { getHeartbeatDueMs, getHeartbeatTime } from '../platform/heartbeat.ts'
import { stoppable } from '../platform/stoppable.ts'
import { createPoolHubs, type PoolHub } from './pool-hubs.ts'

/**
 * Streams the nodes of a pool: first all nodes, then changed ones, in at most two messages a second. Only hashes of
 * nodes are read. The cursor is a hash of the whole pool, so a reader that returns to an unchanged pool gets no node
 * twice.
 */

export interface NodesChange {
  kind: 'nodes'
  pool: string
  /** Whether the list starts again. The reader drops the nodes of earlier messages. */
  isStart: boolean
  ids: readonly string[]
  removedIds: readonly string[]
  /** Empty if more messages of the same change follow. */
  cursor: string
}

export interface NodesHeartbeat {
  kind: 'heartbeat'
  cursor: string
  at: Date
}

export type NodesMessage = NodesChange | NodesHeartbeat

export type NodeWatch = ReturnType<typeof createPoolNodeWatch>

const gapMs = 500
/** Maximum number of nodes, and of removed nodes, in one message. */
export const nodesPerMessage = 200

interface PoolState {
  /** Hash of each node by its id, in order of the names. */
  marks: ReadonlyMap<string, string>
  /** Hash of all nodes and holds. */
  cursor: string
}

export function createPoolNodeWatch(domain: Domain) {
  const hubs = createPoolHubs<PoolState>({
    domain,
    name: 'node watch',
    topics: ['feed', 'view', 'queue'],
    gapMs,
    // Returns equal states as the same object, because watchers compare objects.
    async read(pool, _userIds, latest) {
      const state = await readState(domain, pool)
      return state.cursor === latest?.cursor ? latest : state
    },
    isEqual: (one, other) => one === other,
  })
  return {
    /** Throws NotFound for an unknown pool. `after` is the cursor of the last message. */
    async watch(pool: string, after?: string): Promise<AsyncGenerator<NodesMessage, void, void>> {
      await hubs.read(pool, '')
      return stoppable(async function* (signal) {
        const { hub, leave } = hubs.join(pool, '')
        try {
          if (!hub.latest) await hub.read()
          hub.start()
          yield* messages(domain, { hub, pool, after }, signal)
        } finally {
          leave()
        }
      })
    },
    openHubs: hubs.count,
  }
}

interface Watching {
  hub: PoolHub<PoolState>
  pool: string
  after: string | undefined
}

async function* messages(
  { clock, time }: Domain,
  { hub, pool, after }: Watching,
  signal: AbortSignal,
): AsyncGenerator<NodesMessage, void, void> {
  const present = () => hub.latest?.state ?? null
  let sent = after === present()?.cursor ? present() : null
  let lastSent = clock.monotonicMs()
  while (!signal.aborted) {
    const state = present()
    if (state !== null && state !== sent) {
      yield* changes(pool, sent, state)
      sent = state
      lastSent = clock.monotonicMs()
      await clock.sleep(gapMs, signal)
    } else if (clock.monotonicMs() >= getHeartbeatDueMs(lastSent)) {
      yield { kind: 'heartbeat', cursor: sent?.cursor ?? '', at: getHeartbeatTime(time.nowMs()) }
      lastSent = clock.monotonicMs()
    } else await hub.bell.wait(getHeartbeatDueMs(lastSent) - clock.monotonicMs(), signal)
  }
}

function* changes(pool: string, before: PoolState | null, { marks, cursor }: PoolState): Generator<NodesChange> {
  const ids = [...marks].flatMap(([id, mark]) => (before?.marks.get(id) === mark ? [] : [id]))
  const removedIds = [...(before?.marks.keys() ?? [])].filter((id) => !marks.has(id))
  const count = Math.max(1, Math.ceil(Math.max(ids.length, removedIds.length) / nodesPerMessage))
  for (let page = 0; page < count; page++) {
    const [from, to] = [page * nodesPerMessage, (page + 1) * nodesPerMessage]
    yield {
      kind: 'nodes',
      pool,
      isStart: before === null && page === 0,
      ids: ids.slice(from, to),
      removedIds: removedIds.slice(from, to),
      cursor: page === count - 1 ? cursor : '',
    }
  }
}

async function readState({ db }: Domain, pool: string): Promise<PoolState> {
  const rows = await db.sql.query<{ id: string | null; mark: string }>(marksSql, [pool], 'node_marks')
  if (rows.length === 0) throw new NotFound(`Pool ${pool.slice(0, 64)} not found`)
  const marks = new Map(rows.flatMap(({ id, mark }) => (id === null ? [] : [[id, mark] as const])))
  const hash = createHash('sha256').update(JSON.stringify(rows))
  return { marks, cursor: hash.digest('base64url').slice(0, 16) }
}

/** Omits the time of a node's last heartbeat. The row without an id is the hash of the pool's holds. */
const marksSql = `
SELECT id, mark FROM (SELECT NULL AS id, NULL AS name, md5(coalesce((
  SELECT string_agg(h.job_id || h.placements::text, ',' ORDER BY h.job_id) FROM hold h WHERE h.pool = p.name), '')) AS mark
FROM pool p WHERE p.name = $1
UNION ALL
SELECT n.id, n.name, md5((to_jsonb(n) - 'last_seen_at')::text
  || coalesce((SELECT string_agg(d::text, ',' ORDER BY d.device) FROM device d WHERE d.node_id = n.id), '')
  || coalesce((SELECT string_agg(h.device || h.run_id, ',' ORDER BY h.device, h.run_id) FROM held_device h WHERE h.node_id = n.id), '')
  || coalesce((SELECT string_agg(a.run_id, ',' ORDER BY a.run_id, a.replica) FROM allocation a WHERE a.node_id = n.id), ''))
FROM node n WHERE n.pool = $1) marks ORDER BY name NULLS FIRST`
