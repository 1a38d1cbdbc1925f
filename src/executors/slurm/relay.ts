import { Duplex, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type ExecProcess, SessionRefused } from '../executor.ts'
import { readScript } from '../process/scripts.ts'

/** Connects to a port of a job, by the program relay.py on the node of the job. */

const relayProgram = readScript(import.meta.dirname, 'relay.py')
const relayScript = `PATH=/usr/local/bin:/usr/bin:/bin:$PATH
command -v python3 >/dev/null || { echo "The node $SLURMD_NODENAME has no python3, which a port needs"; exit; }
exec python3 -I -c "$@"`

interface RelayTarget {
  port: number
  jobId: string
  runId: string
}

/** Throws SessionRefused if no process of the job listens on the port. `start` starts a command on the node. */
export async function openRelay(
  start: (words: readonly string[]) => ExecProcess,
  { port, jobId, runId }: RelayTarget,
): Promise<Duplex> {
  const relay = start(['/bin/sh', '-c', relayScript, 'berth', relayProgram, String(port), jobId, runId])
  const chunks = (relay.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  const messages = relay.stderr ? text(relay.stderr).catch(() => '') : ''
  const { answer, rest } = await readAnswer(chunks)
  if (answer !== 'ok') {
    void relay.end()
    throw new SessionRefused(answer || (await messages).trim() || 'Slurm did not start the connection')
  }
  const pieces = readPieces(rest, chunks)
  const connection = Duplex.from({ readable: Readable.from(pieces, { objectMode: false }), writable: relay.stdin })
  // The connection may break before a session reads from it.
  connection.on('error', () => undefined).once('close', () => void relay.end())
  return connection
}

const answerBytesMax = 1_000
const headBytes = 4

/** Reads the first line, and the bytes that arrived after it. */
async function readAnswer(chunks: AsyncIterator<Buffer>): Promise<{ answer: string; rest: Buffer }> {
  let held: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = held.indexOf('\n')
    if (end >= 0) return { answer: held.toString('utf8', 0, end), rest: held.subarray(end + 1) }
    const { done, value } = await chunks.next()
    if (done || held.length > answerBytesMax) return { answer: held.toString(), rest: Buffer.alloc(0) }
    held = Buffer.concat([held, value])
  }
}

/** Yields the bytes of the pieces of data, until the piece of length 0. */
async function* readPieces(rest: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  let held = rest
  let left = 0
  for (;;) {
    if (left > 0 && held.length > 0) {
      const piece = held.subarray(0, left)
      left -= piece.length
      held = held.subarray(piece.length)
      yield piece
    } else if (left === 0 && held.length >= headBytes) {
      left = held.readUInt32BE()
      held = held.subarray(headBytes)
      if (left === 0) return
    } else {
      const { done, value } = await chunks.next()
      if (done) throw new Error('The connection to the job broke')
      held = held.length === 0 ? value : Buffer.concat([held, value])
    }
  }
}
