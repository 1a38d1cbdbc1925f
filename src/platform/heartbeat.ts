/** A stream that has been silent for this long sends a heartbeat with its newest cursor. */
const heartbeatMs = 15_000

const secondMs = 1_000
const wholeSecond = (ms: number) => Math.floor(ms / secondMs) * secondMs

/**
 * Rounds down to whole seconds, so that streams that fell silent in the same second send heartbeats in one turn of the
 * event loop.
 */
export const getHeartbeatDueMs = (lastSentMs: number): number => wholeSecond(lastSentMs) + heartbeatMs

/** Rounds down to whole seconds, so that equal heartbeats of many streams are executed once. */
export const getHeartbeatTime = (nowMs: number): Date => new Date(wholeSecond(nowMs))
