import type { Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import { readAliveRuns } from '../../domain/inside/run-tokens.ts'
import { readStandings } from '../../domain/people/identity.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'
import { readIfAvailable } from '../../platform/read-if-available.ts'

/** EXPIRED: reconnect with a new token. CHANGED: reconnect with the same token. GONE: do not reconnect. */
export type AccessEnd = 'EXPIRED' | 'CHANGED' | 'GONE'

interface Connection {
  readonly viewer: Viewer
  readonly close: (why: AccessEnd) => void
}

const pollMs = 1_000

const isOfRun = ({ viewer }: Connection) => viewer.run !== null

/**
 * Closes WebSockets and SSE streams whose caller loses access: the token expires or is revoked, the user is disabled or
 * changed, or the run ends. While the database is unavailable, only expiry closes connections.
 */
export class AccessExpiry {
  readonly #domain: Domain
  readonly #loop: Loop
  readonly #unlisten: () => void
  readonly #connections = new Set<Connection>()

  constructor(domain: Domain) {
    const { clock, log, wakeups } = domain
    this.#domain = domain
    this.#loop = createLoop({ name: 'access expiry', pollMs, runOnce: () => this.#check(), clock, log })
    this.#unlisten = wakeups.on('access', () => this.#loop.wake())
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    this.#unlisten()
    await this.#loop.stop()
  }

  /** Watches a connection until the returned function is called. */
  watch(viewer: Viewer, close: (why: AccessEnd) => void): () => void {
    // The local user of single-user mode has no credential that can end.
    if (viewer.token === null && viewer.expiresAtMs === null && viewer.run === null) return () => undefined
    const connection = { viewer, close }
    this.#connections.add(connection)
    return () => void this.#connections.delete(connection)
  }

  async #check() {
    const nowMs = this.#domain.time.nowMs()
    for (const connection of this.#connections)
      if ((connection.viewer.expiresAtMs ?? Infinity) <= nowMs) this.#close(connection, 'EXPIRED')
    const connections = [...this.#connections]
    const [runs, people] = [connections.filter(isOfRun), connections.filter((each) => !isOfRun(each))]
    if (people.length > 0) await this.#checkPeople(people)
    if (runs.length > 0) await this.#checkRuns(runs)
  }

  /** Checks connections. Those with the same user, token and level are checked once, with the oldest viewer. */
  async #checkPeople(people: readonly Connection[]) {
    const { db, log } = this.#domain
    const groups = [...Map.groupBy(people, ({ viewer }) => `${viewer.userId} ${viewer.token} ${viewer.level}`).values()]
    const viewers = groups.flatMap(([first]) => (first ? [first.viewer] : []))
    const standings = await readIfAvailable(log, () => readStandings(db.sql, viewers))
    for (const [index, group] of groups.entries()) {
      const standing = standings?.[index] ?? 'WELCOME'
      if (standing !== 'WELCOME') for (const each of group) this.#close(each, standing)
    }
  }

  async #checkRuns(runs: readonly Connection[]) {
    const { db, log } = this.#domain
    const ids = [...new Set(runs.map(({ viewer }) => viewer.userId))]
    const alive = await readIfAvailable(log, () => readAliveRuns(db.sql, ids))
    if (!alive) return
    const aliveIds = new Set(alive.map((run) => run?.runId))
    for (const run of runs) if (!aliveIds.has(run.viewer.userId)) this.#close(run, 'GONE')
  }

  #close(connection: Connection, why: AccessEnd) {
    if (this.#connections.delete(connection)) connection.close(why)
  }
}
