/** Silence of a stream after which a heartbeat carries the newest cursor. */
export const heartbeatMs = 15_000

const secondMs = 1_000

/**
 * When the heartbeat of a stream is due that was last heard at `lastSentMs`. Whole seconds: streams that are silent together
 * send theirs in one turn of the event loop.
 */
export const heartbeatDueMs = (lastSentMs: number): number =>
  Math.ceil((lastSentMs + heartbeatMs) / secondMs) * secondMs

/** The moment that a heartbeat tells; equal heartbeats are executed once (shared-results.ts). */
export const heartbeatAt = (nowMs: number): Date => new Date(Math.floor(nowMs / secondMs) * secondMs)
