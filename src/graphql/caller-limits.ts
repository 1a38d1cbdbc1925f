/**
 * Every limit of a caller, and the weights of expensive fields. docs/api.md, "Limits", has the table: for whom a limit counts
 * and what happens above it. A user's limits count all of the user's tokens on one process. A caller without a token counts
 * by address.
 */
export const limits = {
  // Connections and streams
  unauthenticatedSocketsPerAddressMax: 1_000,
  connectionInitMsMax: 3_000,
  socketsPerUserMax: 500,
  operationsPerSocketMax: 100,
  /** Operations and pings, so that the surplus of operations is read and refused. */
  unansweredMessagesPerSocketMax: 200,
  subscriptionsPerUserMax: 1_000,
  /** Tokens of the different documents of a user's subscriptions. */
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
  /** A body above this is large. */
  largeBodyBytes: 256 * 1024,
  largeBodiesInFlightMax: 2,
  /** Part of a refused body that is read and dropped before the connection is cut. */
  droppedBodyBytesMax: 16 * 1024 * 1024,
  droppedBodyMsMax: 5_000,

  // Documents
  documentBytesMax: 64 * 1024,
  documentCacheBytesMax: 64 * 1024 * 1024,
  tokensMax: 2_000,
  depthMax: 16,
  aliasesMax: 50,
  rootFieldsMax: 20,

  // Cost
  costMax: 50_000,
  /** Enough for the fields of serverInfo that a log-in page reads. */
  anonymousCostMax: 20,
  costInFlightMax: 50_000,
  listsInFlightMax: 2,
  listMsMax: 5_000,
  /** A request that waits for other requests of its user is refused after this. */
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
  /** Specs in one response, unless it has a single one. */
  specBytesMax: 1024 * 1024,
} as const

/** A statement that reads all jobs: about half a second. */
export const scanCost = 10_000
/** Reads every table, or the whole audit log: a user can run two at once. */
export const checkCost = 25_000
/** Planning by the pool's leader. */
export const questionCost = 400
/** Per KiB of text in the arguments of a field beyond the first: text is parsed, checked, hashed and stored. */
export const argumentKibCost = 8

/** Sending 1 MiB of text: one request can get forty. */
const mebibyteCost = 1_250
/** Reading a page of output, which has at most 1 MiB. */
export const logPageCost = mebibyteCost
export const logTextCost = mebibyteCost
/** A quarter of a second of processor time at most. */
export const logSearchCost = scanCost / 2
/** 5,000 lines, whose texts have at most 1 MiB. */
export const logLinesCost = { field: mebibyteCost, multiplier: mebibyteCost }
/** 64 KiB of a batch of `tail` (at most 384 KiB as JSON), or `batchLinesMax` lines. */
export const batchTextCost = 400
export const batchLinesCost = { field: batchTextCost, multiplier: 250 }
export const batchLinesMax = 1_000
/** A closure has at most 256 KiB, the body of an artifact 64 KiB, its metadata 16 KiB. */
export const closureCost = mebibyteCost / 2
export const artifactBodyCost = Math.ceil(mebibyteCost / 8)
export const artifactMetadataCost = Math.ceil(mebibyteCost / 32)
