import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fenced, fence, Leadership, leaseTtlMs, renewMs } from '../../src/domain/leadership.ts'
import { advisoryLocks } from '../../src/platform/advisory-locks.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { createFakeClock } from '../support/clock.ts'
import { openDatabaseForEach } from '../support/database.ts'
import { until } from '../support/until.ts'

const key = 'gpu'
const database = openDatabaseForEach()
let contenders: Contender[]

interface Contender {
  leadership: Leadership
  /** Gained epochs, and `null` for each loss, in order. */
  history: (number | null)[]
}

beforeEach(async () => {
  contenders = []
})
afterEach(() => Promise.all(contenders.map(({ leadership }) => leadership.stop())))

interface Contending {
  clock?: Clock
  direct?: boolean
  place?: string
  log?: Log
  canServe?: () => Promise<boolean>
}

function contend(holder: string, more: Contending = {}) {
  const { clock = systemClock, direct = true, place = null, log = createLog('silent'), canServe } = more
  const history: (number | null)[] = []
  const leadership = new Leadership({
    address: database,
    key,
    holder,
    host: 'here',
    place,
    direct,
    clock,
    log,
    canServe,
    onGained: (epoch) => history.push(epoch),
    onLost: () => history.push(null),
  })
  leadership.start()
  const contender = { leadership, history }
  contenders.push(contender)
  return contender
}

const leads = ({ leadership }: Contender) => leadership.epoch !== null
const leader = () => until(() => contenders.find(leads), { what: 'somebody leads' })

async function row() {
  const [found] = await database.db.sql.query<{ epoch: number; holder: string | null }>(
    'SELECT epoch, holder FROM scheduler_leader WHERE pool = $1',
    [key],
  )
  return found
}

const killConnections = () =>
  database.db.sql.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [`berth leadership ${key}`],
  )

/** A frozen leader: it keeps its row and lock, and does not renew its lease. */
async function frozenLeader(epoch: number) {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('INSERT INTO scheduler_leader (pool, epoch, holder) VALUES ($1, $2, $3)', [key, epoch, 'frozen'])
  await client.query('INSERT INTO scheduler_lease (pool, renewed_at) VALUES ($1, berth_now())', [key])
  await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [advisoryLocks.leadership, `${key}:${epoch}`])
  return client
}

/** Waits pass twenty times as fast; the lease is the database's, and is renewed as often. */
const hasty: Clock = {
  monotonicMs: () => systemClock.monotonicMs() * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
}

describe('a process that cannot serve its pool', () => {
  test('leaves the leadership to a process that can serve it', async () => {
    const asked = Promise.withResolvers<void>()
    const canServe = async () => {
      asked.resolve()
      return false
    }
    const unable = contend('a', { clock: { ...systemClock, monotonicMs: () => 0 }, canServe })
    await asked.promise
    const able = contend('b', { canServe: async () => true })
    await until(() => leads(able), { what: 'the second leads' })
    expect(unable.history).toEqual([])
  })

  test('becomes leader if no other process competes', async () => {
    const unable = contend('a', { clock: hasty, canServe: async () => false })
    await until(() => leads(unable), { what: 'it leads' })
  })

  test('hands over the leadership only if another process competes', async () => {
    let isAble = true
    const first = contend('a', { clock: hasty, canServe: async () => isAble })
    await leader()
    isAble = false
    first.leadership.giveWay()
    const renewed = async () => String((await lease())?.at)
    const before = await renewed()
    await until(async () => (await renewed()) !== before, { what: 'it renews its lease' })
    expect(first.history).toEqual([1])
    const second = contend('b', { clock: hasty, canServe: async () => true })
    await until(competesTwice, { what: 'another one competes' })
    first.leadership.giveWay()
    await until(() => leads(second), { what: 'the second leads' })
    expect(first.history).toEqual([1, null])
    expect(await row()).toEqual({ epoch: 2, holder: 'b' })
  })

  test('stays leader behind a connection pooler, because it cannot see other processes there', async () => {
    const first = contend('a', { clock: hasty, direct: false, canServe: async () => true })
    await leader()
    contend('b', { clock: hasty, direct: false, canServe: async () => true })
    await until(competesTwice, { what: 'another one competes' })
    first.leadership.giveWay()
    const since = await lease()
    const isRenewed = async () => Number((await lease())?.at) > Number(since?.at) + renewMs / 5
    await until(isRenewed, { what: 'it renews its lease several times' })
    expect(first.history).toEqual([1])
  })
})

const lease = async () =>
  (await database.db.sql.query<{ at: Date }>('SELECT renewed_at AS at FROM scheduler_lease WHERE pool = $1', [key]))[0]

async function competesTwice() {
  const found = await database.db.sql.query(
    'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [`berth leadership ${key}`],
  )
  return found.length === 2
}

describe('two competing processes', () => {
  test('elect exactly one leader', async () => {
    contend('a')
    contend('b')
    const first = await leader()
    expect(await row()).toEqual({ epoch: 1, holder: first === contenders[0] ? 'a' : 'b' })
    expect(contenders.flatMap(({ history }) => history)).toEqual([1])
  })

  test('hand the leadership over when the leader stops', async () => {
    contend('a')
    const first = await leader()
    const second = contend('b')
    await first.leadership.stop()
    expect(first.history).toEqual([1, null])
    await until(() => leads(second), { what: 'the second leads' })
    expect(await row()).toEqual({ epoch: 2, holder: 'b' })
  })

  test('hand the leadership over without advisory locks as well', async () => {
    const first = contend('a', { direct: false })
    await leader()
    const second = contend('b', { direct: false })
    await first.leadership.stop()
    await until(() => leads(second), { what: 'the second leads' })
    expect(second.history).toEqual([2])
  })

  test('elect a leader with a later epoch after the connection of the leader broke', async () => {
    contend('a')
    contend('b')
    const first = await leader()
    await killConnections()
    await until(() => first.history.length >= 2, { what: 'the first steps down' })
    expect(first.history.slice(0, 2)).toEqual([1, null])
    await until(async () => ((await row())?.epoch ?? 0) >= 2 && contenders.some(leads), {
      what: 'somebody leads again',
    })
    expect(contenders.filter(leads)).toHaveLength(1)
  })
})

describe('a frozen leader', () => {
  test('keeps its lock and loses the leadership when its lease expires', async () => {
    const frozen = await frozenLeader(5)
    const contender = contend('b', { direct: true })
    await until(async () => contender.leadership.epoch === null && (await competes()), { what: 'it competes' })
    expect(contender.history).toEqual([])
    await database.moveTime(leaseTtlMs + 1_000)
    await until(() => leads(contender), { what: 'it takes over' })
    expect(contender.history).toEqual([6])
    await frozen.end()
  })

  test('is replaced at once when it dies, because its lock is released', async () => {
    const frozen = await frozenLeader(5)
    const contender = contend('b')
    await frozen.end()
    await until(() => leads(contender), { what: 'it takes over', timeoutMs: leaseTtlMs - 1_000 })
    expect(contender.history).toEqual([6])
  })

  test('steps down when it thaws and another process has a newer epoch, without disturbing the new leader', async () => {
    const clock = createFakeClock()
    const old = contend('old', { clock })
    await until(() => leads(old), { what: 'the old one leads' })
    await database.moveTime(leaseTtlMs + 1_000)
    const next = contend('next')
    await until(() => leads(next), { what: 'the next one leads' })
    await until(() => clock.sleeping > 0, { what: 'the old one waits for its renewal' })
    await clock.advance(renewMs)
    await until(() => !leads(old), { what: 'the old one steps down' })
    await until(() => clock.sleeping > 0, { what: 'the old leader has released its lock' })
    await clock.advance(1_000)
    await until(async () => (await sessions()) === 2, { what: 'it competes again' })
    expect(old.history).toEqual([1, null])
    expect(next.history).toEqual([2])
  })

  test('that held the next lock as a contender does not block others for more than two leases', async () => {
    const frozen = await frozenLeader(5)
    await frozen.query('SELECT pg_advisory_lock($1, hashtext($2))', [advisoryLocks.leadership, `${key}:6`])
    await database.moveTime(2 * leaseTtlMs + 1_000)
    const contender = contend('c')
    await until(() => leads(contender), { what: 'it takes over' })
    await frozen.end()
  })
})

const sessions = async () =>
  (
    await database.db.sql.query(
      'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
      [`berth leadership ${key}`],
    )
  ).length
const competes = async () => (await sessions()) > 0

test('a leader renews its lease', async () => {
  const clock = createFakeClock()
  const contender = contend('a', { clock })
  await until(() => leads(contender), { what: 'it leads' })
  const renewedAt = async () =>
    (await database.db.sql.query<{ at: Date }>('SELECT renewed_at AS at FROM scheduler_lease'))[0]?.at.getTime() ?? 0
  const before = await renewedAt()
  await database.moveTime(3_000)
  await until(() => clock.sleeping > 0, { what: 'it waits for its renewal' })
  await clock.advance(renewMs)
  await until(async () => (await renewedAt()) >= before + 3_000, { what: 'the lease is newer' })
  expect(contender.history).toEqual([1])
})

describe('the fence of decisions', () => {
  test('admits only the current epoch', async () => {
    contend('a')
    await leader()
    const { db } = database
    await db.transaction((sql) => fence(sql, { pool: key, epoch: 1, holder: 'a' }))
    await expect(db.transaction((sql) => fence(sql, { pool: key, epoch: 0, holder: 'a' }))).rejects.toThrow(Fenced)
    await expect(db.transaction((sql) => fence(sql, { pool: 'other', epoch: 1, holder: 'a' }))).rejects.toThrow(Fenced)
  })

  test('rejects a process whose take-over was lost, because another process got the epoch', async () => {
    const lost = contend('a')
    await leader()
    // A failover lost the take-over of process a, and then process b took over.
    await database.db.sql.query("UPDATE scheduler_leader SET holder = 'b'")
    await expect(database.db.transaction((sql) => fence(sql, { pool: key, epoch: 1, holder: 'a' }))).rejects.toThrow(
      Fenced,
    )
    await database.db.transaction((sql) => fence(sql, { pool: key, epoch: 1, holder: 'b' }))
    await until(() => lost.history.includes(null), { what: 'a steps down at its next renewal' })
    expect(await row()).toEqual({ epoch: 1, holder: 'b' })
  })

  test('rejects every process after a regular hand-over', async () => {
    const first = contend('a')
    await leader()
    await first.leadership.stop()
    await expect(database.db.transaction((sql) => fence(sql, { pool: key, epoch: 1, holder: 'a' }))).rejects.toThrow(
      Fenced,
    )
  })

  test('delays a take-over until a decision that is being committed has ended', async () => {
    const frozen = await frozenLeader(5)
    let taken: Contender | undefined
    await database.db.transaction(async (sql) => {
      await fence(sql, { pool: key, epoch: 5, holder: 'frozen' })
      await database.moveTime(leaseTtlMs + 1_000)
      taken = contend('b')
      await until(waitsForRow, { what: 'the take-over waits' })
      expect(taken.history).toEqual([])
    })
    await until(() => taken && leads(taken), { what: 'it takes over' })
    await expect(
      database.db.transaction((sql) => fence(sql, { pool: key, epoch: 5, holder: 'frozen' })),
    ).rejects.toThrow(Fenced)
    await frozen.end()
  })

  const waitsForRow = async () =>
    (
      await database.db.sql.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock' AND datname = current_database()",
        [`berth leadership ${key}`],
      )
    ).length > 0
})

describe('two copies of a data directory:', () => {
  /** Collects the logged warnings. */
  function listening() {
    const said: string[] = []
    const log = Object.assign(Object.create(createLog('silent')), {
      warn: (_about: object, message: string) => said.push(message),
    }) as Log
    return { log, said }
  }

  test('the copy logs the conflict while the original leads, and leads after the original has stopped', async () => {
    const original = contend('a', { place: 'boot:1:1' })
    await leader()
    const { log, said } = listening()
    const copy = contend('b', { place: 'boot:1:2', log })
    await until(() => said.some((line) => line.startsWith('another copy of this data directory leads')), {
      what: 'it says so',
    })
    await original.leadership.stop()
    contenders = [copy]
    // The leader is gone and its lock is free, but its lease is not over: the original may be restarting.
    const again = contend('a again', { place: 'boot:1:1' })
    await until(() => leads(again), { what: 'the original leads again' })
    expect(copy.history).toEqual([])
    await again.leadership.stop()
    contenders = [copy]
    await database.moveTime(leaseTtlMs + 1)
    await until(() => leads(copy), { what: 'the copy leads' })
    expect(said).toHaveLength(1)
  })

  test('the original waits while its copy leads, and logs the conflict', async () => {
    const copy = contend('b', { place: 'boot:1:2' })
    await leader()
    const { log, said } = listening()
    const original = contend('a', { place: 'boot:1:1', log })
    await until(() => said.length > 0, { what: 'it says so' })
    expect([copy.history, original.history]).toEqual([[1], []])
  })
})
