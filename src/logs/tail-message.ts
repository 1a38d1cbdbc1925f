import type { LogLine, Utf8 } from './batch.ts'
import type { LogGap, LogStart } from './read.ts'
import type { LogCursor } from './stored.ts'

/** Every message carries the cursor to resume at. */
export type TailMessage =
  | {
      kind: 'batch'
      run: number
      utf8: Utf8
      readonly text: string
      readonly lines: readonly LogLine[]
      startOffset: number
      endOffset: number
      cursor: LogCursor
      phase: 'REPLAY' | 'LIVE'
      isFinal: boolean
    }
  | ({ kind: 'gap' } & LogGap)
  /** Later messages belong to this run. */
  | { kind: 'run'; jobId: string; run: number; cursor: LogCursor; instead: TailReset }
  | TailReset
  | { kind: 'heartbeat'; cursor: LogCursor; at: Date }

/** RETENTION: the log of the cursor does not exist any more; the tail starts again from the beginning. */
export interface TailReset {
  kind: 'reset'
  reason: 'DELETED' | 'RETENTION'
  jobIds: readonly string[]
  cursor: LogCursor
}

export interface FollowOptions extends LogStart {
  /** Clamped to 4 KiB … 1 MiB. */
  maxBatchBytes: number
  /** Maximum lines of a batch, whose text then has `maxBatchBytes` as JSON; absent: no lines. */
  linesMax?: number
}
