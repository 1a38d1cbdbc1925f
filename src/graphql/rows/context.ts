import type { Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import type { FeedPosition } from '../../feed/event.ts'
import type { Feed } from '../../feed/feed.ts'
import type { QueueWatch } from '../../feed/queue-watch.ts'
import type { LogTail } from '../../logs/follow.ts'
import { deferred, renewable } from '../../platform/deferred.ts'
import type { Log } from '../../platform/log.ts'
import type { Sql } from '../../platform/tx.ts'
import type { ListReads } from './list-reads.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import type { LogTexts } from './log-text.ts'
import { createSpecs, type Specs } from './specs.ts'

/** What the server knows of itself, told by serverInfo. */
export interface ServerFacts {
  version: string
  singleUser: boolean
  /** What a log-in page needs; null: no provider is configured. */
  oidcIssuer: string | null
  oidcClientId: string | null
  /** null: for ever. */
  eventRetentionDays: number | null
  logRetentionDays: number | null
}

/** The rooms behind the edge; the same for every request. */
export interface Rooms {
  readonly domain: Domain
  /** The same domain over database connections of its own, for live streams. */
  readonly live: Domain
  /** Reads lists over database connections of their own. */
  readonly lists: ListReads
  readonly feed: Feed
  readonly logTail: LogTail
  readonly queueWatch: QueueWatch
  readonly facts: ServerFacts
  readonly log: Log
}

/** What resolvers get. A subscription gets a new one for every event, so that nothing is remembered from the last. */
export interface RequestContext extends Rooms {
  readonly viewer: Viewer
  /** For statements that read a list. */
  readonly listSql: Sql
  readonly load: Loaders
  readonly specs: Specs
  /**
   * Newest position of the feed, read once, before any list: what happens later is told by `jobUpdates` after it. A
   * list that is read later repeats at most what its rows show already.
   */
  readonly head: () => Promise<FeedPosition>
  /** Keeps the text of logs apart from the result, which has markers; absent: the result has the text. */
  readonly logTexts?: LogTexts
}

export function createContext(rooms: Rooms, viewer: Viewer): RequestContext {
  const listSql = rooms.lists.sqlOf(viewer.userId)
  // Made when it is first used: a context lives as long as its subscription, and most subscriptions load nothing.
  const { value: load, renew } = renewable(() => createLoaders(rooms.domain, viewer, listSql))
  let head: Promise<FeedPosition> | undefined
  async function readHead() {
    const place = await rooms.feed.head()
    // Other fields of the document may have read rows before the head: a list that reuses them would lack an event that
    // the head includes.
    renew()
    return place
  }
  return {
    ...rooms,
    viewer,
    listSql,
    load,
    specs: deferred(() => createSpecs(rooms.domain.db.sql)),
    head: () => {
      head ??= readHead()
      return head
    },
  }
}
