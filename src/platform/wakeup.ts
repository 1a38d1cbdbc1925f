import type pg from 'pg'
import type { Clock } from './clock.ts'
import { type Address, createPgClient, disconnect } from './connection.ts'
import type { Log } from './log.ts'

/**
 * Wake-ups between rooms and processes. A wake-up says "look again" and carries no data; losing one costs at most one
 * poll. `poke` is called after a commit, never inside a transaction: a pending NOTIFY takes a global lock at commit.
 *
 * Listeners of this process are called directly. Other processes get a NOTIFY: the first at once, further ones of the
 * same topic at most every `gapMs`. One connection per process listens and sends, so the process recognises its own
 * notifications by their backend pid and ignores them. A NOTIFY gets a transaction id, so its commit would wait for the disk
 * for a wake-up that is worth nothing after a crash; this connection does not wait.
 */

/** `Topic`: the valid names; another one does not compile. */
export interface Wakeups<Topic extends string> {
  poke(topic: Topic): void
  /** Wakes other processes only. */
  tell(topic: Topic): void
  /** Calls `listener` at every wake-up of the topic; returns the function that removes it. */
  on(topic: Topic, listener: () => void): () => void
  stop(): Promise<void>
}

export interface WakeupOptions<Topic extends string> {
  /** null: this process neither sends nor listens (behind a transaction pooler); others find out by polling. */
  address: Address | null
  topics: readonly Topic[]
  /** Topics that stay in this process. */
  localTopics?: readonly Topic[]
  clock: Clock
  log: Log
}

const prefix = 'berth_'
/** What PostgreSQL calls the topic. */
export const channelOf = (topic: string) => `${prefix}${topic}`
const gapMs = 15
const reconnectMs = 500
/** A notification that takes longer is lost, and the connection with it. */
const statementMsMax = 5_000
/** A process that only listens would not notice that its connection is dead. */
const probeMs = 10_000

export function createWakeups<Topic extends string>({
  address,
  topics,
  localTopics = [],
  clock,
  log,
}: WakeupOptions<Topic>): Wakeups<Topic> {
  const listeners = new Map<string, Set<() => void>>(topics.map((topic) => [topic, new Set()]))
  const pending = new Map<string, 'sent' | 'again'>()
  /** Sent together, in one transaction, at the end of this turn of the event loop. */
  let due: string[] = []
  const abort = new AbortController()
  let client: pg.Client | undefined
  /** A connection sends one statement at a time. */
  let sending: Promise<unknown> = Promise.resolve()

  const wakeLocal = (topic: string) => {
    for (const listener of listeners.get(topic) ?? []) listener()
  }

  function notify(topic: string) {
    if (!client) return
    if (pending.has(topic)) return void pending.set(topic, 'again')
    pending.set(topic, 'sent')
    if (due.push(topic) === 1) setImmediate(send)
    void clock.sleep(gapMs, abort.signal).then(() => {
      const again = pending.get(topic) === 'again'
      pending.delete(topic)
      if (again && !abort.signal.aborted) notify(topic)
    })
  }

  function send() {
    const sent = due
    due = []
    sending = sending
      .then(() => client?.query(sent.map((topic) => `NOTIFY ${channelOf(topic)}`).join(';')))
      .catch((error) => log.debug({ err: error, topics: sent }, 'notifications were lost'))
  }

  async function listen(to: Address) {
    while (!abort.signal.aborted) {
      const connection = createPgClient({ address: to, name: 'berth wakeup', statementMsMax, direct: true })
      const lost = new AbortController()
      const leave = () => lost.abort()
      connection.on('error', leave)
      connection.on('end', leave)
      abort.signal.addEventListener('abort', leave)
      try {
        await connection.connect()
        connection.on('notification', ({ channel, processId }) => {
          if (processId !== connectionPid(connection)) wakeLocal(channel.slice(prefix.length))
        })
        await connection.query(
          ['SET synchronous_commit TO off', ...topics.map((topic) => `LISTEN ${channelOf(topic)}`)].join(';'),
        )
        client = connection
        for (const topic of topics) wakeLocal(topic) // notifications may have been missed before
        while (!lost.signal.aborted) {
          await clock.sleep(probeMs, lost.signal)
          if (!lost.signal.aborted) connection.query('').catch(leave)
        }
      } catch (error) {
        log.warn({ err: error }, 'cannot listen for notifications; polling meanwhile')
      }
      client = undefined
      abort.signal.removeEventListener('abort', leave)
      await disconnect(connection)
      await clock.sleep(reconnectMs, abort.signal)
    }
  }

  const listening = address === null ? Promise.resolve() : listen(address)

  return {
    poke(topic) {
      wakeLocal(topic)
      if (!localTopics.includes(topic)) notify(topic)
    },
    tell: notify,
    on(topic, listener) {
      const set = listeners.get(topic)
      if (!set) throw new Error(`Unknown wake-up topic ${topic}`)
      set.add(listener)
      return () => set.delete(listener)
    },
    async stop() {
      abort.abort()
      await listening
    },
  }
}

/** Backend pid of a connection; a field of pg that is missing in its types. */
const connectionPid = (connection: pg.Client) => (connection as unknown as { processID: number }).processID
