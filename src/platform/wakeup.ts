import type pg from 'pg'
import type { Clock } from './clock.ts'
import { type Address, createPgClient, disconnect } from './connection.ts'
import type { Log } from './log.ts'

export interface WakeupOptions<Topic extends string> {
  /** null: behind a transaction pooler, so listeners poll. */
  address: Address | null
  topics: readonly Topic[]
  /** Topics that are not sent to other processes. */
  localTopics?: readonly Topic[]
  clock: Clock
  log: Log
}

const prefix = 'berth_'
export const nameChannel = (topic: string) => `${prefix}${topic}`
const gapMs = 15
const reconnectMs = 500
const statementMsMax = 5_000
/** Interval of a query that detects a dead connection: a process that only listens would not notice it. */
const probeMs = 10_000

/**
 * Wake-ups between rooms and processes. A wake-up carries no data; a lost wake-up costs at most one poll. Call `poke`
 * after a commit, never inside a transaction, because a pending NOTIFY takes a global lock at commit.
 *
 * Listeners of this process are called directly. Other processes get a NOTIFY: the first at once, further ones of the
 * same topic at most every `gapMs`. Each process listens and sends over one connection, so that it recognises its own
 * notifications by their backend pid.
 */
export class Wakeups<Topic extends string> {
  readonly #options: WakeupOptions<Topic>
  readonly #listeners: ReadonlyMap<string, Set<() => void>>
  readonly #pending = new Map<string, 'sent' | 'again'>()
  readonly #abort = new AbortController()
  readonly #listening: Promise<void>
  /** Topics to send together at the end of this turn of the event loop. */
  #due: string[] = []
  #client: pg.Client | undefined
  #sending: Promise<unknown> = Promise.resolve()

  constructor(options: WakeupOptions<Topic>) {
    this.#options = options
    this.#listeners = new Map(options.topics.map((topic) => [topic, new Set()]))
    this.#listening = options.address === null ? Promise.resolve() : this.#listen(options.address)
  }

  poke(topic: Topic): void {
    this.#wakeLocal(topic)
    if (!this.#options.localTopics?.includes(topic)) this.notify(topic)
  }

  notify(topic: string): void {
    if (!this.#client) return
    if (this.#pending.has(topic)) return void this.#pending.set(topic, 'again')
    this.#pending.set(topic, 'sent')
    if (this.#due.push(topic) === 1) setImmediate(() => this.#send())
    const { signal } = this.#abort
    void this.#options.clock.sleep(gapMs, signal).then(() => {
      const again = this.#pending.get(topic) === 'again'
      this.#pending.delete(topic)
      if (again && !signal.aborted) this.notify(topic)
    })
  }

  /** Returns the function that removes the listener. */
  on(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic)
    if (!listeners) throw new Error(`Unknown wake-up topic ${topic}`)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#listening
  }

  #wakeLocal(topic: string) {
    for (const listener of this.#listeners.get(topic) ?? []) listener()
  }

  #send() {
    const topics = this.#due
    this.#due = []
    this.#sending = this.#sending
      .then(() => this.#client?.query(topics.map((topic) => `NOTIFY ${nameChannel(topic)}`).join(';')))
      .catch((error) => this.#options.log.debug({ err: error, topics }, 'cannot send notifications'))
  }

  async #listen(address: Address) {
    const { clock, log } = this.#options
    const { signal } = this.#abort
    while (!signal.aborted) {
      const connection = createPgClient({ address, name: 'berth wakeup', statementMsMax, direct: true })
      const lost = new AbortController()
      const leave = () => lost.abort()
      connection.on('error', leave)
      connection.on('end', leave)
      signal.addEventListener('abort', leave)
      try {
        await this.#subscribe(connection)
        while (!lost.signal.aborted) {
          await clock.sleep(probeMs, lost.signal)
          if (!lost.signal.aborted) connection.query('').catch(leave)
        }
      } catch (error) {
        log.warn({ err: error }, 'cannot listen for notifications; polling meanwhile')
      }
      this.#client = undefined
      signal.removeEventListener('abort', leave)
      await disconnect(connection)
      await clock.sleep(reconnectMs, signal)
    }
  }

  async #subscribe(connection: pg.Client) {
    const { topics } = this.#options
    await connection.connect()
    connection.on('notification', ({ channel, processId }) => {
      if (processId !== connectionPid(connection)) this.#wakeLocal(channel.slice(prefix.length))
    })
    await connection.query(
      ['SET synchronous_commit TO off', ...topics.map((topic) => `LISTEN ${nameChannel(topic)}`)].join(';'),
    )
    this.#client = connection
    for (const topic of topics) this.#wakeLocal(topic) // notifications may have been missed before
  }
}

/** A field of pg that is missing in its types. */
const connectionPid = (connection: pg.Client) => (connection as unknown as { processID: number }).processID
