import { getEventListeners } from 'node:events'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { systemClock, type Wake } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { Wakeups } from '../../src/platform/wakeup.ts'
import { createFakeClock } from '../support/clock.ts'
import { openDatabase } from '../support/database.ts'
import { createDoor } from '../support/outage.ts'
import { until } from '../support/until.ts'

let open: Wakeups<string>[] = []
const database = await openDatabase()
afterEach(async () => {
  await Promise.all(open.map((wakeups) => wakeups.stop()))
  open = []
})

function create({ url = database.url, clock = systemClock }: { url?: string | null; clock?: typeof systemClock } = {}) {
  const wakeups = new Wakeups({
    address: url === null ? null : { url },
    topics: ['queue', 'feed'],
    clock,
    log: createLog('silent'),
  })
  open.push(wakeups)
  const heard = { queue: 0, feed: 0 }
  wakeups.on('queue', () => heard.queue++)
  wakeups.on('feed', () => heard.feed++)
  return { wakeups, heard }
}

/** Two listening processes over one database. Each was woken once when it connected. */
async function pair(clock = systemClock) {
  const [one, other] = [create({ clock }), create()]
  await until(() => one.heard.queue === 1 && other.heard.queue === 1, { what: 'both listen' })
  return { one, other }
}

test('a wake-up reaches its own process at once, and other processes through a notification', async () => {
  const { one, other } = await pair()
  one.wakeups.poke('queue')
  expect(one.heard).toEqual({ queue: 2, feed: 1 })
  await until(() => other.heard.queue === 2, { what: 'the other one hears it' })
  expect(other.heard.feed).toBe(1)
})

test('many wake-ups are reduced to two notifications: the first, and one after a pause', async () => {
  const clock = createFakeClock()
  const { one, other } = await pair(clock)
  for (let n = 0; n < 100; n++) one.wakeups.poke('queue')
  await until(() => other.heard.queue === 2, { what: 'the first arrives' })
  await clock.advance(15)
  await until(() => other.heard.queue === 3, { what: 'the second arrives' })
  await clock.advance(1_000)
  one.wakeups.poke('feed')
  await until(() => other.heard.feed === 2, { what: 'a later notification arrives' })
  expect(other.heard.queue).toBe(3)
})

test('a process is not woken by its own notifications', async () => {
  const { one, other } = await pair()
  one.wakeups.poke('queue')
  await until(() => other.heard.queue === 2, { what: 'the other one hears it' })
  other.wakeups.poke('feed')
  await until(() => one.heard.feed === 2, { what: 'later ones have arrived' })
  expect(one.heard.queue).toBe(2)
})

test('a broken connection is replaced, and its listeners poll again', async () => {
  const { one, other } = await pair()
  await database.db.sql.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'berth wakeup' AND datname = current_database()",
  )
  await until(() => one.heard.queue === 2 && other.heard.queue === 2, { what: 'both listen again' })
  one.wakeups.poke('queue')
  await until(() => other.heard.queue === 3, { what: 'the other one hears it' })
})

test('a connection that broke silently is replaced', async () => {
  const door = await createDoor(database.url)
  try {
    const sleep = (ms: number, signal?: Wake) => systemClock.sleep(ms / 100, signal)
    const { heard } = create({ url: door.url, clock: { ...systemClock, sleep } })
    await until(() => heard.queue === 1, { what: 'it listens' })
    door.strand()
    await until(() => heard.queue === 2, { what: 'it listens again' })
  } finally {
    await Promise.all(open.map((wakeups) => wakeups.stop()))
    await door.shut()
  }
})

test('a notification from another process wakes a listener', async () => {
  const { one } = await pair()
  const stranger = new pg.Client({ connectionString: database.url })
  await stranger.connect()
  await stranger.query('NOTIFY berth_feed')
  await until(() => one.heard.feed === 2, { what: 'it is heard' })
  await stranger.end()
})

test('a removed listener is no longer woken', async () => {
  const { wakeups } = create({ url: null })
  let heard = 0
  const leave = wakeups.on('queue', () => heard++)
  wakeups.poke('queue')
  leave()
  wakeups.poke('queue')
  expect(heard).toBe(1)
})

test('behind a pooler only the process itself is woken, and no connection is opened', async () => {
  const { wakeups, heard } = create({ url: null })
  wakeups.poke('queue')
  expect(heard).toEqual({ queue: 1, feed: 0 })
  await wakeups.stop()
})

test('wake-ups can be stopped while the database is down', async () => {
  const { wakeups } = create({ url: 'postgresql://nobody@127.0.0.1:1/none' })
  await wakeups.stop()
})

test('an unknown topic throws', () => {
  const { wakeups } = create({ url: null })
  // @ts-expect-error a misspelt topic does not compile
  expect(() => wakeups.on('nonsense', () => undefined)).toThrow(/Unknown wake-up topic/)
})

test('a failed attempt to listen leaves no abort listener behind', async () => {
  const left: number[] = []
  const sleep = async (_ms: number, signal?: AbortSignal) => {
    if (signal) left.push(getEventListeners(signal, 'abort').length)
    await systemClock.sleep(1)
  }
  create({ url: 'postgresql://127.0.0.1:1/none', clock: { ...systemClock, sleep } })
  await until(() => left.length >= 20, { what: '20 tries' })
  expect(left.slice(0, 20)).toEqual(Array(20).fill(0))
})
