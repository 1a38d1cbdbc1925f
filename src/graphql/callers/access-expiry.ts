import type { Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import { readAliveRuns } from '../../domain/inside/run-tokens.ts'
import { type Standing, standingsOf } from '../../domain/people/identity.ts'
import { createLoop } from '../../platform/loop.ts'
import { steadily } from '../../platform/steadily.ts'

/**
 * Guests: sockets and SSE streams. Their access may end while they are open (the token is revoked or expires, its user
 * is disabled or changes, its run ends). Then they are closed: at once if this process hears of it, else at the next look, once a
 * second, with one statement for all. While the database does not answer, only expired guests are closed.
 */

export interface Guests {
  /** Answers the function to call when the guest leaves. */
  enter(viewer: Viewer, showOut: (why: Farewell) => void): () => void
  start(): void
  stop(): Promise<void>
}

/** EXPIRED: reconnect with a fresh token. CHANGED: reconnect with the same one. GONE: do not reconnect. */
export type Farewell = 'EXPIRED' | 'CHANGED' | 'GONE'

interface Guest {
  readonly viewer: Viewer
  readonly showOut: (why: Farewell) => void
}

const lookMs = 1_000

const isRun = ({ viewer }: Guest) => viewer.run !== null

export function createGuests({ db, wakeups, clock, time, log }: Domain): Guests {
  const guests = new Set<Guest>()

  function showOut(guest: Guest, why: Farewell) {
    if (guests.delete(guest)) guest.showOut(why)
  }

  async function look() {
    for (const guest of guests) if ((guest.viewer.expiresAtMs ?? Infinity) <= time.nowMs()) showOut(guest, 'EXPIRED')
    const [runs, people] = [[...guests].filter(isRun), [...guests].filter((guest) => !isRun(guest))]
    if (people.length > 0) await lookAtPeople(people)
    if (runs.length > 0) await lookAtRuns(runs)
  }

  /** Guests with the same user, token and level are asked about once, by the oldest viewer of them. */
  async function lookAtPeople(people: readonly Guest[]) {
    const byWay = Map.groupBy(people, ({ viewer }) => `${viewer.userId} ${viewer.token} ${viewer.level}`)
    const groups = [...byWay.values()].flatMap((together) => together.slice(0, 1).map((first) => ({ first, together })))
    const viewers = groups.map(({ first }) => first.viewer)
    const standings = await steadily(log, () => standingsOf(db.sql, viewers))
    for (const [index, { together }] of groups.entries()) settle(together, standings?.[index] ?? 'WELCOME')
  }

  async function lookAtRuns(runs: readonly Guest[]) {
    const ids = [...new Set(runs.map(({ viewer }) => viewer.userId))]
    const alive = await steadily(log, () => readAliveRuns(db.sql, ids))
    if (!alive) return
    const aliveIds = new Set(alive.map((run) => run?.runId))
    settle(
      runs.filter(({ viewer }) => !aliveIds.has(viewer.userId)),
      'GONE',
    )
  }

  function settle(together: readonly Guest[], standing: Standing) {
    if (standing !== 'WELCOME') for (const guest of together) showOut(guest, standing)
  }

  const loop = createLoop({ name: 'guests', pollMs: lookMs, runOnce: look, clock, log })
  const unlisten = wakeups.on('access', () => loop.wake())
  return {
    enter(viewer, showOutGuest) {
      // In single-user mode there is no credential that could end.
      if (viewer.token === null && viewer.expiresAtMs === null && viewer.run === null) return () => undefined
      const guest = { viewer, showOut: showOutGuest }
      guests.add(guest)
      return () => void guests.delete(guest)
    },
    start: () => loop.start(),
    async stop() {
      unlisten()
      await loop.stop()
    },
  }
}
