import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Viewer } from '../../domain/access.ts'
import { readJob } from '../../domain/submission/stored-job.ts'
import { createPacer } from '../../platform/pacer.ts'
import { readIfAvailable, retryMs } from '../../platform/read-if-available.ts'
import type { StreamCost } from '../admission/admission.ts'
import { limits } from '../caller-limits.ts'
import { isUnavailableError, limitErrors, presentError, refusal } from '../errors.ts'
import { KeyedLimit } from '../keyed-limit.ts'
import { collectRootFields } from '../operation.ts'
import { countReset, countStream, countSubscription } from '../request-metrics.ts'
import { createContext, type RequestContext, type Rooms } from '../rows/context.ts'
import { attachLogTexts, LogTexts } from '../rows/log-text.ts'
import { addEventId, attachCursor } from './event-ids.ts'
import { createReplayedPages } from './replayed-pages.ts'
import { SharedResults } from './shared-results.ts'
import { answerWithoutStream, findEnded, refuseStream } from './stream-answers.ts'
import { SubscriptionDocuments } from './subscription-documents.ts'

/**
 * Executes the subscriptions of all transports. They use separate database connections (`Rooms.live`), so requests and
 * the scheduler always find a free one. At most `eventsAtOnceMax` events are executed at the same time.
 *
 * The events of a subscription are executed one by one, each with a new context: the loaders of an older context would
 * return old rows. Subscribers with the same permissions and document share an execution (shared-results.ts), and a
 * page of replayed events shares a context (replayed-pages.ts).
 *
 * While the database is unavailable, a new subscription over SSE is refused. Over a WebSocket it waits, because the
 * standard client of graphql-ws does not retry a refused subscription.
 */

export interface StreamTransport {
  /** Called when a stream begins; calling `end` ends the stream. Absent: the transport ends its streams. */
  readonly onStreamStart?: (end: () => void) => void
  /** true: the transport inserts the texts of logs into messages (log-text.ts). */
  readonly insertsLogTexts?: boolean
  /** Returns true if a subscription waits while the database is unavailable; absent or false: it is refused. */
  readonly clientWaits?: () => boolean
  /** true: the transport sends the cursor of a message as the id of its event. */
  readonly sendsEventIds?: boolean
  /** Id of the last event that the client received. */
  readonly lastEventId?: string | undefined
}

const eventsAtOnceMax = 32
/** Maximum events sent in one turn of the event loop; sending one takes about 20 µs. */
const eventsPerTurnMax = 200

const useLiveConnections = (rooms: Rooms): Rooms => ({
  ...rooms,
  domain: rooms.live,
  userDomains: { domainFor: () => rooms.live },
  lists: { db: rooms.live.db, sqlFor: () => rooms.live.db.sql },
})

export function subscriptionsPlugin(rooms: Rooms): Plugin<RequestContext & StreamTransport> {
  const live = useLiveConnections(rooms)
  const open = new KeyedLimit(limits.subscriptionsPerUserMax)
  const documents = new SubscriptionDocuments(limits.subscriptionTokensPerUserMax)
  const executions = new KeyedLimit(eventsAtOnceMax)
  const shared = new SharedResults()
  const pace = createPacer(eventsPerTurnMax, rooms.domain.clock)

  async function begin(args: ExecutionArgs, leave: () => void) {
    const { viewer, onStreamStart, insertsLogTexts = false, clientWaits, cost } = args.contextValue as Subscribing
    const { sendsEventIds = false, lastEventId } = args.contextValue as Subscribing
    const contextValue = { ...createContext(live, viewer), ...(lastEventId !== undefined && { lastEventId }) }
    const source = await openSource(live, { ...args, contextValue }, clientWaits)
    countSubscription(Symbol.asyncIterator in source ? {} : source)
    if (!(Symbol.asyncIterator in source)) {
      leave()
      return sendsEventIds ? refuseStream(source, rooms.log) : source
    }
    const field = nameRootField(args)
    const uncount = countStream(field, sendsEventIds ? 'sse' : 'websocket')
    let price: StreamCost = cost === undefined ? {} : { cost }
    const share = shared.join(args, viewer)
    const execution = { live, args: { ...args, contextValue: undefined }, viewer, insertsLogTexts, executions }
    const executed = createReplayedPages(
      () => createContext(live, viewer),
      (message, context, signal) => share(message, () => executeEvent(execution, message, { context, signal })),
    )
    const events = mapEvents(source, {
      async map(message, signal) {
        await pace()
        countReset(field, message)
        const shown = await executed(message, signal)
        const result = sendsEventIds ? addEventId(shown) : shown
        if (price.cost === undefined) return result
        const extensions = { ...result.extensions, ...price }
        price = {}
        return { ...result, extensions }
      },
      leave: () => {
        uncount()
        leave()
      },
    })
    onStreamStart?.(() => void events.return())
    return lastEventId === undefined ? events : findEnded(events, lastEventId, live.domain.clock)
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

  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe), onResultProcess: answerWithoutStream }
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

/** Returns the name of the root field. Validation has made sure that it is the only one. */
const nameRootField = ({ document, operationName }: ExecutionArgs): string => {
  const operation = getOperationAST(document, operationName)
  return (operation && collectRootFields(document, operation)[0]?.name.value) ?? ''
}

interface Execution {
  live: Rooms
  args: ExecutionArgs
  viewer: Viewer
  insertsLogTexts: boolean
  executions: KeyedLimit
}

type Subscribing = RequestContext & StreamTransport & StreamCost

async function openSource({ domain }: Rooms, args: ExecutionArgs, clientWaits = () => false) {
  for (;;) {
    const source = await createSourceEventStream(args)
    const unavailable = Symbol.asyncIterator in source ? undefined : source.errors?.find(isUnavailableError)
    if (!unavailable || !clientWaits()) return source
    domain.log.warn({ err: unavailable.originalError ?? unavailable }, 'a subscription waits for the database')
    await domain.clock.sleep(retryMs)
  }
}

/**
 * Executes an event. An unavailable database delays it. If its job is deleted meanwhile, a message reports the
 * deletion, because an error would have no cursor.
 */
async function executeEvent(
  execution: Execution,
  message: unknown,
  { context, signal }: { context: () => RequestContext; signal: AbortSignal },
): Promise<ExecutionResult> {
  const { live, args, viewer, insertsLogTexts, executions } = execution
  const { clock, log } = live.domain
  let rootValue: unknown = message
  for (let from = context(); ; from = createContext(live, viewer)) {
    const texts = insertsLogTexts ? new LogTexts() : undefined
    let cursor: string | undefined
    const reportCursor = (each: string) => {
      cursor = each
    }
    const contextValue = { ...from, reportCursor, ...(texts && { logTexts: texts }) }
    const result = await executions.run('events', 1, () => execute({ ...args, rootValue, contextValue }))
    const unavailable = result.errors?.find(isUnavailableError)
    const deleted =
      !unavailable && result.errors && isJobMessage(rootValue) && (await isDeleted(live, rootValue)) ? rootValue : null
    if (deleted) rootValue = deleted.instead
    else if (!unavailable || signal.aborted) {
      const sent = attachCursor(limitErrors(result), cursor)
      return texts ? attachLogTexts(sent, texts) : sent
    } else {
      log.warn({ err: unavailable.originalError ?? unavailable }, 'waiting for the database to read an event')
      await clock.sleep(retryMs, signal)
    }
  }
}

interface JobMessage {
  jobId: string
  instead: object
}

const isJobMessage = (message: unknown): message is JobMessage =>
  typeof message === 'object' && message !== null && 'jobId' in message && 'instead' in message

/** true: the job was deleted; false: it exists, or the database is unavailable. */
async function isDeleted({ domain }: Rooms, { jobId }: JobMessage): Promise<boolean> {
  return (await readIfAvailable(domain.log, () => readJob(domain, jobId))) === null
}

/**
 * Maps the events of a source. Passes `return` to the source at once; an async generator would queue it behind the next
 * event.
 */
function mapEvents<In, Out>(
  source: AsyncIterable<In>,
  { map, leave }: { map: (event: In, signal: AbortSignal) => Promise<Out>; leave: () => void },
): AsyncGenerator<Out, void, void> {
  const events = source[Symbol.asyncIterator]()
  const ended = new AbortController()
  const end = async (): Promise<IteratorReturnResult<void>> => {
    leave()
    ended.abort()
    await events.return?.()
    return { done: true, value: undefined }
  }
  const mapped: AsyncGenerator<Out, void, void> = {
    async next() {
      try {
        const event = await events.next()
        if (!event.done) return { done: false, value: await map(event.value, ended.signal) }
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
