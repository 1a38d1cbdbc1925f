import type { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { defineCounter } from './metrics.ts'

/**
 * Wraps stdout and stderr of the server. The server continues if their reader is gone (EPIPE), hung up (EIO) or reads
 * nothing (a frozen `tee`, Ctrl-S), and if the disk is full. Texts wait for a slow reader up to a limit; further texts
 * are dropped.
 */
type Stream = Writable & { _handle?: { setBlocking?(isBlocking: boolean): void } | null }

export interface TextOutput {
  write(text: string): void
}

interface TextOutputOptions {
  onDropped?: (count: number) => void
  waitingCharsMax?: number
}

const waitingCharsMaxDefault = 1024 * 1024
const exitMsMax = 1_000
const pollMs = 10

/** Number of texts that were dropped by all outputs of this process. */
let droppedInAll = 0
export const countDroppedTexts = (): number => droppedInAll

defineCounter({
  name: 'berth_log_lines_dropped_total',
  help: 'Lines of the log of the server that were dropped, because its reader was too slow.',
  collect() {
    this.reset()
    this.inc(droppedInAll)
  },
})

export function createOutput(
  stream: Stream,
  { onDropped, waitingCharsMax = waitingCharsMaxDefault }: TextOutputOptions = {},
): TextOutput {
  let dropped = 0
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
  // Node writes to a terminal in blocking mode, and has no public way to change that.
  stream._handle?.setBlocking?.(false)
  return {
    write(text: string) {
      if (stream.writableLength > waitingCharsMax) {
        dropped += 1
        droppedInAll += 1
        return
      }
      const count = dropped
      dropped = 0
      if (count > 0) onDropped?.(count)
      stream.write(text)
    },
  }
}

const ignore = () => undefined

export async function exitWritten(code: number): Promise<never> {
  const endMs = performance.now() + exitMsMax
  const isWaiting = () => process.stdout.writableLength + process.stderr.writableLength > 0
  while (isWaiting() && performance.now() < endMs) await setTimeout(pollMs)
  process.exit(code)
}
