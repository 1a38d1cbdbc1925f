import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Viewer } from '../../domain/access.ts'
import { readJob } from '../../domain/submission/stored-job.ts'
import { createPacer } from '../../platform/pacer.ts'
import { readIfAvailable, retryMs } from '../../platform/read-if-available.ts'
import type { Priced } from '../admission/admission.ts'
import { limits } from '../caller-limits.ts'
import { isUnavailableError, presentError, refusal, withFewErrors } from '../errors.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import { createContext, type RequestContext, type Rooms } from '../rows/context.ts'
import { createLogTexts, keepTexts } from '../rows/log-text.ts'
import { createReplayedPages } from './replayed-pages.ts'
import { createSharedResults } from './shared-results.ts'
import { SubscriptionDocuments } from './subscription-documents.ts'

/**
 * Subscriptions of all transports.
 *
 * A person has at most `subscriptionsPerUserMax` of them open on this process, with bounded documents. The transport
 * learns of each that begins (`stays`), so what may stay open is decided by what was started, not by what the request said
 * it accepts.
 *
 * Everything that a subscription reads goes over the database connections of `Rooms.live`: however many subscriptions
 * read, requests and the scheduler find a connection. At most `eventsAtOnceMax` events are executed at a time, so one
 * event for a thousand readers does not keep the event loop from everything else.
 *
 * A subscription's events are executed one by one, each with a context of its own: loaders remember what they read, and
 * would otherwise show every later event the rows of the first. Subscribers who are shown the same share the execution
 * (shared-results.ts).
 *
 * A page of replayed events is executed together, with one context, so that its loaders read once for all of them
 * (replayed-pages.ts).
 *
 * A subscription that begins while the database is unavailable is refused over SSE, by the status of its answer. Over a
 * WebSocket it waits: the stock client of graphql-ws does not retry a refused subscription.
 *
 * A job may be deleted while the fields of its event are read. Then the message says that instead: one with errors
 * would have no cursor.
 */

export interface Staying {
  /** Called when a stream begins; `end` ends it. Absent: the transport ends its streams by itself. */
  readonly stays?: (end: () => void) => void
  /** It puts the text of logs into messages by itself (log-text.ts). */
  readonly takesLogTexts?: boolean
  /** The transport waits for the database with its client, as long as this is true; absent: it refuses the client. */
  readonly isAwaited?: () => boolean
}

const eventsAtOnceMax = 32
/** Events of all subscriptions in one turn of the event loop: sending one takes some 20 µs. */
const eventsPerTurnMax = 200

export function subscriptionsPlugin(rooms: Rooms): Plugin<RequestContext & Staying> {
  const live: Rooms = { ...rooms, domain: rooms.live, lists: { db: rooms.live.db, sqlOf: () => rooms.live.db.sql } }
  const open = new KeyedLimit(limits.subscriptionsPerUserMax)
  const documents = new SubscriptionDocuments(limits.subscriptionTokensPerUserMax)
  const executions = new KeyedLimit(eventsAtOnceMax)
  const shared = createSharedResults()
  const pace = createPacer(eventsPerTurnMax, rooms.domain.clock)

  async function begin(args: ExecutionArgs, leave: () => void) {
    const { viewer, stays, takesLogTexts = false, isAwaited, cost } = args.contextValue as Subscribing
    const source = await openSource(live, { ...args, contextValue: createContext(live, viewer) }, isAwaited)
    if (!(Symbol.asyncIterator in source)) {
      leave()
      return source
    }
    let price: Priced | null = cost === undefined ? null : { cost }
    const share = shared.join(args, viewer)
    const execution = { live, args: { ...args, contextValue: undefined }, viewer, takesLogTexts, executions }
    const executed = createReplayedPages(
      () => createContext(live, viewer),
      (message, context, signal) => share(message, () => executeEvent(execution, message, { context, signal })),
    )
    const events = mapEvents(source, {
      async map(message, signal) {
        await pace()
        const result = await executed(message, signal)
        if (price === null) return result
        const extensions = { ...result.extensions, ...price }
        price = null
        return { ...result, extensions }
      },
      leave,
    })
    stays?.(() => void events.return())
    return events
  }

  async function subscribe(args: ExecutionArgs) {
    const { viewer } = args.contextValue as RequestContext
    const releaseDocument = documents.tryAcquire(viewer.userId, args.document)
    if (releaseDocument === null) return { errors: [presentError(tooLarge(), rooms.log)] }
    const release = open.tryAcquire(viewer.userId)
    if (release === null) {
      releaseDocument()
      return { errors: [presentError(tooMany(), rooms.log)] }
    }
    const leave = () => {
      releaseDocument()
      release()
    }
    try {
      return await begin(args, leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe) }
}

const tooMany = () =>
  refusal(
    'SUBSCRIPTION_LIMIT',
    `You have ${limits.subscriptionsPerUserMax} open subscriptions, the maximum per user; close some first`,
  )

const tooLarge = () =>
  refusal(
    'SUBSCRIPTION_LIMIT',
    `The documents of your open subscriptions can have ${limits.subscriptionTokensPerUserMax} tokens together; ` +
      'open several with the same document, which counts once, and different variables',
  )

interface Execution {
  live: Rooms
  args: ExecutionArgs
  viewer: Viewer
  takesLogTexts: boolean
  executions: KeyedLimit
}

type Subscribing = RequestContext & Staying & Priced

/** The messages; the errors of a refusal. */
async function openSource({ domain }: Rooms, args: ExecutionArgs, isAwaited = () => false) {
  for (;;) {
    const source = await createSourceEventStream(args)
    const missed = Symbol.asyncIterator in source ? undefined : source.errors?.find(isUnavailableError)
    if (!missed || !isAwaited()) return source
    domain.log.warn({ err: missed.originalError ?? missed }, 'a subscription waits for the database')
    await domain.clock.sleep(retryMs)
  }
}

interface Executing {
  /** Read from first. */
  context: RequestContext
  signal: AbortSignal
}

/** A database that is away while an event's fields are read delays the event, as it delays the next one. */
async function executeEvent(
  execution: Execution,
  message: unknown,
  { context, signal }: Executing,
): Promise<ExecutionResult> {
  const { live, args, viewer, takesLogTexts, executions } = execution
  const { clock, log } = live.domain
  let rootValue: unknown = message
  for (let from = context; ; from = createContext(live, viewer)) {
    const texts = takesLogTexts ? createLogTexts() : undefined
    const contextValue = { ...from, ...(texts && { logTexts: texts }) }
    const result = await executions.run('events', 1, () => execute({ ...args, rootValue, contextValue }))
    const missed = result.errors?.find(isUnavailableError)
    const ofDeleted =
      !missed && result.errors && isOfJob(rootValue) && (await isGone(live, rootValue)) ? rootValue : null
    if (ofDeleted) rootValue = ofDeleted.instead
    else if (!missed || signal.aborted) return texts ? keepTexts(withFewErrors(result), texts) : withFewErrors(result)
    else {
      log.warn({ err: missed.originalError ?? missed }, 'waiting for the database to read an event')
      await clock.sleep(retryMs, signal)
    }
  }
}

interface MessageOfJob {
  jobId: string
  instead: object
}

const isOfJob = (message: unknown): message is MessageOfJob =>
  typeof message === 'object' && message !== null && 'jobId' in message && 'instead' in message

/** false: it is there, or the database does not answer. */
async function isGone({ domain }: Rooms, { jobId }: MessageOfJob): Promise<boolean> {
  return (await readIfAvailable(domain.log, () => readJob(domain, jobId))) === null
}

interface Mapping<In, Out> {
  map: (event: In, signal: AbortSignal) => Promise<Out>
  /** Called once or more when it is over. */
  leave: () => void
}

/** Passes `return` straight to the source: a generator of our own would queue it behind the event it waits for. */
function mapEvents<In, Out>(
  source: AsyncIterable<In>,
  { map, leave }: Mapping<In, Out>,
): AsyncGenerator<Out, void, void> {
  const events = source[Symbol.asyncIterator]()
  const left = new AbortController()
  const end = async (): Promise<IteratorReturnResult<void>> => {
    leave()
    left.abort()
    await events.return?.()
    return { done: true, value: undefined }
  }
  const mapped: AsyncGenerator<Out, void, void> = {
    async next() {
      try {
        const event = await events.next()
        if (!event.done) return { done: false, value: await map(event.value, left.signal) }
      } catch (error) {
        await end()
        throw error
      }
      leave()
      return { done: true, value: undefined }
    },
    return: end,
    async throw(error) {
      await end()
      throw error
    },
    [Symbol.asyncIterator]: () => mapped,
    [Symbol.asyncDispose]: async () => void (await end()),
  }
  return mapped
}
