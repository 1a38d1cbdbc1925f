/** Silence of a stream after which a heartbeat carries the newest cursor. */
const heartbeatMs = 15_000

const secondMs = 1_000
const wholeSecond = (ms: number) => Math.floor(ms / secondMs) * secondMs

/**
 * When the heartbeat of a stream is due that was last heard at `lastSentMs`. Whole seconds: streams that are silent together
 * send theirs in one turn of the event loop, and every `heartbeatMs` from then on, though each is sent a little after it is due.
 */
export const heartbeatDueMs = (lastSentMs: number): number => wholeSecond(lastSentMs) + heartbeatMs

/** The moment that a heartbeat tells; heartbeats of one second are equal, so that they are executed once. */
export const heartbeatAt = (nowMs: number): Date => new Date(wholeSecond(nowMs))
