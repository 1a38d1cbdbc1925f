import type { Readable, Writable } from 'node:stream'
import type { ClientLine, LineEnd } from '../../client/channel/client-line.ts'
import { kinds, payloadBytesMax } from '../../client/channel/frames.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'

/** Connects local streams with a session. */

export const toSocketUrl = (cli: Cli, path: string): string =>
  new URL(`.${path}`, `${cli.connection().url}/`).href.replace(/^http/, 'ws')

export function announceSession(cli: Cli, id: string, what: string): void {
  cli.terminal.say(
    `berth: ${id}: who, when, ${what} and the number of bytes are recorded, not what is typed or printed`,
  )
}

/** Writes bytes to a stream. Resolves when it has taken them. */
export function copyInto(stream: Writable, payload: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) return resolve()
    const go = () => {
      stream.off('drain', go).off('close', go)
      resolve()
    }
    if (stream.write(payload)) return resolve()
    stream.once('drain', go).once('close', go)
  })
}

/** Sends all bytes of a stream, and its end, to a line of the session. */
export async function sendAll(stream: Readable, line: ClientLine): Promise<void> {
  try {
    // Does not destroy the stream at its end, because a socket may still be written to.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
      for (let at = 0; at < chunk.length; at += payloadBytesMax)
        await line.send(kinds.stdin, chunk.subarray(at, at + payloadBytesMax))
    await line.send(kinds.eof)
  } catch {
    // Ignored: the session ended first.
  }
}

export function demandExit({ exitCode, reason }: LineEnd): number {
  if (exitCode !== null) return exitCode
  throw new Stop(exitCodes.unexpected, reason ?? 'the exit code of the command is unknown')
}
