import type { LogLine, Utf8 } from './batch.ts'
import type { LogGap, LogStart } from './read.ts'
import type { LogCursor } from './stored.ts'

/** A message of a tail. Every message carries the cursor to resume at. */
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
  /** From here on messages speak of this run. */
  | { kind: 'run'; jobId: string; run: number; cursor: LogCursor; instead: TailReset }
  | TailReset
  | { kind: 'heartbeat'; cursor: LogCursor; at: Date }

/** DELETED: the job is gone. RETENTION: the cursor is of a log that is no more; it starts again from the beginning. */
export interface TailReset {
  kind: 'reset'
  reason: 'DELETED' | 'RETENTION'
  /** The deleted job. */
  jobIds: readonly string[]
  cursor: LogCursor
}

export interface FollowOptions extends LogStart {
  /** Bytes of text in one batch at most; taken between 4 KiB and 1 MiB. */
  maxBatchBytes: number
  /** Lines in one batch at most, whose text has `maxBatchBytes` as JSON then; absent: lines are not asked for. */
  linesMax?: number
}
