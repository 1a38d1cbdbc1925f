import type { Viewer } from '../../domain/access.ts'
import type { Domain } from '../../domain/domain.ts'
import type { SnapshotLimits } from '../../domain/snapshots/snapshots.ts'
import type { FeedPosition } from '../../feed/event.ts'
import type { Feed } from '../../feed/feed.ts'
import type { NodeWatch } from '../../feed/node-watch.ts'
import type { QueueWatch } from '../../feed/queue-watch.ts'
import type { LogTail } from '../../logs/follow.ts'
import { combineReads } from '../../platform/combined-reads.ts'
import { createDeferred, createRenewable } from '../../platform/deferred.ts'
import type { Log } from '../../platform/log.ts'
import type { Sql } from '../../platform/tx.ts'
import type { ListReads } from './list-reads.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import type { LogTexts } from './log-text.ts'
import { createSpecs, type Specs } from './specs.ts'
import type { UserDomains } from './user-domains.ts'

export interface ServerFacts {
  version: string
  singleUser: boolean
  /** The OpenID provider, for the login page; null: not configured. */
  oidc: { issuer: string; clientId: string | null; scopes: readonly string[] } | null
  /** How long events are kept; null: forever. */
  eventRetentionDays: number | null
  logRetentionDays: number | null
  /** Name of the installation. */
  title: string
  /** Colour of the installation, #RRGGBB; null: the default colour of the console. */
  accent: string | null
  publicUrl: string | null
  /** Parent domain of the host names of ports of jobs; null: ports have no host names. */
  jobsHost: string | null
  links: readonly ServerLink[]
  snapshotLimits: SnapshotLimits
}

export interface ServerLink {
  title: string
  url: string
  on: 'MENU' | 'JOB' | 'NODE'
}

export interface Rooms {
  readonly domain: Domain
  readonly userDomains: UserDomains
  /** The domain over separate database connections, for live streams. */
  readonly live: Domain
  /** Reads lists over separate database connections. */
  readonly lists: ListReads
  readonly feed: Feed
  readonly logTail: LogTail
  readonly queueWatch: QueueWatch
  readonly nodeWatch: NodeWatch
  readonly facts: ServerFacts
  readonly log: Log
}

/** Context of resolvers. Each event of a subscription gets a new context and thus no cached rows. */
export interface RequestContext extends Rooms {
  readonly viewer: Viewer
  readonly listSql: Sql
  /** Reads the lists of several objects in one statement. Their rows must be JSON values. */
  readonly combinedListSql: Sql
  readonly load: Loaders
  readonly specs: Specs
  /**
   * Reads the newest position of the feed once per request, before any list, so that `jobUpdates` from that position
   * misses no change of a listed row.
   */
  readonly head: () => Promise<FeedPosition>
  /** Collects the texts of logs, for insertion by the transport; absent: the result contains them. */
  readonly logTexts?: LogTexts
  /** Id of the last event that an SSE client received before it reconnected. It replaces `after`. */
  readonly lastEventId?: string
  /** Resolvers of streams call it with the cursor of the message. */
  readonly reportCursor?: (cursor: string) => void
}

export function createContext(rooms: Rooms, viewer: Viewer): RequestContext {
  const listSql = rooms.lists.sqlFor(viewer.userId)
  const domain = rooms.userDomains.domainFor(viewer.userId)
  // Created on first use, because most subscriptions load nothing.
  const { value: load, renew } = createRenewable(() => createLoaders(domain, viewer, listSql))
  let head: Promise<FeedPosition> | undefined
  async function readHead() {
    const place = await rooms.feed.head()
    // Rows that other fields cached may be older than the head; a list must not reuse them.
    renew()
    return place
  }
  return {
    ...rooms,
    domain,
    viewer,
    listSql,
    combinedListSql: combineReads(listSql),
    load,
    specs: createDeferred(() => createSpecs(domain.db.sql)),
    head: () => {
      head ??= readHead()
      return head
    },
  }
}
