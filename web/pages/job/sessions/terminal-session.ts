import { ClientLine, frameKinds, type LineEnd, payloadBytesMax } from '@berth-jobs/berth/client'
import type { Terminal } from '@xterm/xterm'
import { OpenTerminalDocument } from '../../../generated/graphql.ts'
import { baseUrl, client } from '../../../ground/connection.ts'
import { isRefused } from '../../../parts/refusal.ts'

export type TerminalState =
  | { kind: 'OPENING' | 'OPEN' | 'CUT' }
  | { kind: 'REFUSED'; message: string }
  | ({ kind: 'ENDED' } & LineEnd)

const toBytes = {
  text: (data: string) => new TextEncoder().encode(data),
  binary: (data: string) => Uint8Array.from(data, (each) => each.charCodeAt(0)),
}

/** Opens a login shell in the job, connected to the terminal. Ends it when `signal` aborts. */
export async function runTerminal(
  jobId: string,
  terminal: Terminal,
  { signal, onState }: { signal: AbortSignal; onState: (state: TerminalState) => void },
): Promise<void> {
  const size = { columns: terminal.cols, rows: terminal.rows }
  const { openSession } = await client.request(OpenTerminalDocument, { input: { jobId, size } }, { signal })
  if (isRefused(openSession)) return onState({ kind: 'REFUSED', message: openSession.message })
  if (signal.aborted) return
  const line = new ClientLine({
    url: new URL(`.${openSession.url}`, baseUrl).href.replace(/^http/, 'ws'),
    take: (_kind, payload) => new Promise((taken) => terminal.write(payload, taken)),
    onConnect: () => onState({ kind: 'OPEN' }),
    onCut: () => onState({ kind: 'CUT' }),
  })
  signal.addEventListener('abort', () => line.close())
  let sent: Promise<void> = Promise.resolve()
  /** Sends input in parts. Each part of a large paste waits until the server has received the one before. */
  const send = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; at += payloadBytesMax)
      sent = sent.then(() => line.send(frameKinds.stdin, bytes.subarray(at, at + payloadBytesMax)))
  }
  const listeners = [
    terminal.onData((data) => send(toBytes.text(data))),
    terminal.onBinary((data) => send(toBytes.binary(data))),
    terminal.onResize(({ cols: columns, rows }) => void line.sendJson(frameKinds.resize, { columns, rows })),
  ]
  const end = await line.ended
  for (const listener of listeners) listener.dispose()
  if (!signal.aborted) onState({ kind: 'ENDED', ...end })
}
