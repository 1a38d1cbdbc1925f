import type { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'

/**
 * stdout and stderr of the server. The server goes on whatever is at their other end: a reader that has gone (EPIPE), a
 * terminal that hung up (EIO), a full disk (ENOSPC), or a reader that takes nothing, such as a frozen `tee` or a terminal
 * after Ctrl-S. Texts wait for a slow reader up to a limit, and are dropped beyond it.
 */
export interface TextOutput {
  write(text: string): void
}

type Stream = Writable & { _handle?: { setBlocking?(isBlocking: boolean): void } | null }

export interface TextOutputOptions {
  /** Called with their number when there is room again. */
  onDropped?: (count: number) => void
  waitingCharsMax?: number
}

const waitingCharsMaxDefault = 1024 * 1024
const exitMsMax = 1_000
const pollMs = 10

export function createOutput(
  stream: Stream,
  { onDropped, waitingCharsMax = waitingCharsMaxDefault }: TextOutputOptions = {},
): TextOutput {
  let dropped = 0
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
  // Node writes to a terminal in blocking mode, and has no public way to change that.
  stream._handle?.setBlocking?.(false)
  return {
    write(text) {
      if (stream.writableLength > waitingCharsMax) {
        dropped += 1
        return
      }
      const count = dropped
      dropped = 0
      if (count > 0) onDropped?.(count)
      stream.write(text)
    },
  }
}

/** An error of stderr cannot be reported anywhere. */
const ignore = () => undefined

/** Ends the process when its texts are written, or after a second. */
export async function exitWritten(code: number): Promise<never> {
  const endMs = performance.now() + exitMsMax
  const isWaiting = () => process.stdout.writableLength + process.stderr.writableLength > 0
  while (isWaiting() && performance.now() < endMs) await setTimeout(pollMs)
  process.exit(code)
}
