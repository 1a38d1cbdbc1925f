import type { Domain } from '../domain/domain.ts'
import { cancelHopeless, gatesMax, openGates } from '../domain/jobs/dependencies.ts'
import { fence, type Leader, runAsLeader } from '../domain/leadership.ts'
import { readNodes } from '../domain/machines/nodes.ts'
import { preemptionMemoryMs } from '../domain/scheduling.ts'
import { readNow } from '../platform/database-time.ts'
import { type Sql, wholeTableMsMax } from '../platform/tx.ts'
import type { Store } from './plan/leader-store.ts'
import type { Snapshot } from './plan/model.ts'
import { commitDecisions } from './stored/committing.ts'
import { createChangeReader } from './stored/hearing.ts'
import { publish } from './stored/publishing.ts'
import {
  readDecayedUse,
  readFirst,
  readHolds,
  readLanes,
  readPreemptions,
  readRunning,
  readServed,
  readSettings,
} from './stored/reading.ts'

export function createStoredPool(domain: Domain, leader: Leader): Store {
  const ear = createChangeReader(domain, leader)
  let replaces = true

  return {
    async load() {
      const openedMs = await openAllDue(domain, leader)
      await cancelHopeless(domain, { pool: leader.pool })
      const snapshot = await domain.db.transaction((sql) => load(sql, domain, leader), {
        isolation: 'REPEATABLE READ',
        statementMsMax: wholeTableMsMax,
      })
      ear.begin(openedMs)
      replaces = true
      return snapshot
    },
    changes: (lanes) => ear.listen(lanes),
    first: (laneIds) => readFirst(domain.db.sql, laneIds),
    commit: (decisions, revision) => commitDecisions(domain, leader, { decisions, revision }),
    async publish(changes) {
      await publish(domain, leader, { changes, replaces })
      replaces = false
    },
  }
}

async function openAllDue(domain: Domain, leader: Leader): Promise<number> {
  const untilMs = (await readNow(domain.db.sql)).getTime()
  for (let opened = gatesMax; opened === gatesMax; )
    opened = await runAsLeader(domain, leader, (sql) => openGates(sql, { pool: leader.pool, afterMs: 0, untilMs }))
  return untilMs
}

/** Loads the pool. Deletes the changes that the snapshot contains, except changes of gates. */
async function load(sql: Sql, { singleUser }: Domain, leader: Leader): Promise<Snapshot> {
  const { pool } = leader
  await fence(sql, leader)
  await sql.query("DELETE FROM pool_change WHERE pool = $1 AND kind <> 'GATED'", [pool])
  const nowMs = (await readNow(sql)).getTime()
  const settings = await readSettings(sql, pool, singleUser)
  return {
    nowMs,
    settings,
    nodes: await readNodes(sql, pool),
    lanes: await readLanes(sql, pool),
    running: await readRunning(sql, pool),
    holds: await readHolds(sql, pool),
    preemptions: await readPreemptions(sql, pool, preemptionMemoryMs(settings)),
    served: settings.policy === 'FAIR_SHARE' ? await readServed(sql, pool) : [],
    decayedUse: await readDecayedUse(sql, pool, settings.policy === 'FAIR_SHARE' ? settings.shareHalfLifeMs : null),
  }
}
