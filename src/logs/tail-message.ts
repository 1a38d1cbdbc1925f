import type { LogLine, Utf8 } from './batch.ts'
import type { LogGap, LogStart } from './read.ts'
import type { LogCursor } from './stored.ts'

/** A message of a log stream. Every message has the cursor at which to resume. */
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
  /** The following messages belong to this run. */
  | { kind: 'run'; jobId: string; run: number; cursor: LogCursor; instead: TailReset }
  | TailReset
  | { kind: 'heartbeat'; cursor: LogCursor; at: Date }

/** RETENTION: the output at the cursor no longer exists, so the tail starts again from the beginning. */
export interface TailReset {
  kind: 'reset'
  reason: 'DELETED' | 'RETENTION'
  jobIds: readonly string[]
  cursor: LogCursor
}

export interface FollowOptions extends LogStart {
  /** Limited to the range 4 KiB … 1 MiB. */
  maxBatchBytes: number
  /** Maximum lines of a batch; absent: no lines. With lines, `maxBatchBytes` limits the text as JSON. */
  linesMax?: number
}
