/**
 * Every limit of a caller, and the cost of expensive fields. docs/api.md, "Limits", describes whom a limit applies to
 * and what happens above it. Limits of a user apply to all of the user's tokens together, per server process. Callers
 * without a token are limited by address.
 */
export const limits = {
  // Connections and streams
  unauthenticatedSocketsPerAddressMax: 1_000,
  connectionInitMsMax: 3_000,
  socketsPerUserMax: 500,
  operationsPerSocketMax: 100,
  /**
   * Counts operations and pings. Higher than the limit of operations, so that further operations are read and refused.
   */
  unansweredMessagesPerSocketMax: 200,
  subscriptionsPerUserMax: 1_000,
  /** Sum of the tokens of the different documents of a user's subscriptions. */
  subscriptionTokensPerUserMax: 100_000,
  /** A message to a WebSocket, or the request of a subscription over SSE. */
  subscriptionBytesMax: 64 * 1024,
  unsentBytesPerUserMax: 64 * 1024 * 1024,

  // Bodies
  bodyBytesMax: 4 * 1024 * 1024,
  anonymousBodyBytesMax: 16 * 1024,
  /** Objects, lists, texts and numbers of the JSON: a thousand submissions of fifty each. */
  bodyValuesMax: 50_000,
  bodyBytesInFlightMax: 64 * 1024 * 1024,
  /** A body above this size is large. */
  largeBodyBytes: 256 * 1024,
  largeBodiesInFlightMax: 2,
  /** Maximum part of a refused body that is read and dropped before the connection is cut. */
  droppedBodyBytesMax: 16 * 1024 * 1024,
  droppedBodyMsMax: 5_000,
  /** Maximum time to receive a body, except that of an upload. */
  bodyMsMax: 300_000,
  /** Maximum time without a byte of an upload. */
  uploadSilenceMsMax: 60_000,

  // Documents
  documentBytesMax: 64 * 1024,
  documentCacheBytesMax: 64 * 1024 * 1024,
  tokensMax: 2_000,
  depthMax: 16,
  aliasesMax: 50,
  rootFieldsMax: 20,

  // Cost: a unit is about 10 µs of processor time, measured by `npm run bench -- prices`.
  costMax: 100_000,
  /** Enough for the fields of serverInfo that a log-in page reads. */
  anonymousCostMax: 250,
  costInFlightMax: 100_000,
  listsInFlightMax: 2,
  listMsMax: 5_000,
  /** Maximum time that a request waits for other requests of its user. */
  waitMsMax: 10_000,

  // Arguments and pages
  pageSizeDefault: 20,
  pageSizeMax: 100,
  nodesMax: 100,
  bulkMax: 1_000,
  filterIdsMax: 1_000,
  decisionsMax: 100,
  logMatchesMax: 1_000,
  downloadsInFlightMax: 4,
  uploadsInFlightMax: 4,
  /** Maximum total of specs in one response; a single spec may be larger. */
  specBytesMax: 1024 * 1024,
} as const

/** Cost of a field without a weight of its own. */
export const fieldCost = 0.5
/** Expected entries of a list that has no page and no maximum. */
export const listMultiplier = 4
/** Additional cost of a field with a selection, once per document: its objects are read together. */
export const readCost = 100
/** Cost of a statement that reads all jobs. */
export const scanCost = 30_000
/** Cost of counting the waiting jobs of a pool by reason: up to 20,000 jobs with closed gates are read. */
export const reasonsCost = 1_000
/** Cost of the numbers of a queue or of quotas, for which up to 20,000 rows are counted. */
export const numbersCost = 250
/** Cost of a count that reads up to 100,000 jobs. */
export const countedJobsCost = 20_000
/** Cost of reading every table or the whole audit log. A user can run two at the same time. */
export const checkCost = 50_000
/** Costs for each waiting job: its position, its reasons, whether it fits, and when it starts. */
export const positionCost = 8
export const reasonCost = 10
export const fitCost = 8
export const estimateCost = 30
/** Cost of a question (a request to the leader of a pool). */
export const questionCost = 2_000
/**
 * Cost per KiB of text in the arguments of a field beyond the first, because text is parsed, validated, hashed and
 * stored.
 */
export const argumentKibCost = 8

/** Cost of sending 1 MiB of text; a request can read up to 40 MiB. */
const mebibyteCost = 2_500
/** Cost of a page of output, which has at most 1 MiB. */
export const logPageCost = mebibyteCost
export const logTextCost = mebibyteCost
/** Cost of a log search, which takes at most a quarter of a second of processor time. */
export const logSearchCost = 25_000
/** Cost of up to 5,000 lines, with at most 1 MiB of text. */
export const logLinesCost = { field: mebibyteCost, multiplier: 2 * mebibyteCost }
/** Cost of finding the gaps of a log among its chunks. */
export const logGapsCost = { field: 400, multiplier: 1 }
/** Cost per 64 KiB of a batch of `tail` (at most 384 KiB as JSON), or per `batchLinesMax` lines. */
export const batchTextCost = 800
export const batchLinesCost = { field: batchTextCost, multiplier: 1_000 }
export const batchLinesMax = 1_000
/** Cost of the query string of a saved view, at most 2 KiB; a list has up to 500. */
export const viewSearchCost = 5
/** Cost of the diff of a snapshot, at most 1 MiB. */
export const diffCost = mebibyteCost
/** Costs by maximum size: a closure has 256 KiB, the body of an artifact 64 KiB, its metadata 16 KiB. */
export const closureCost = mebibyteCost / 2
export const artifactBodyCost = Math.ceil(mebibyteCost / 8)
export const artifactMetadataCost = Math.ceil(mebibyteCost / 32)
