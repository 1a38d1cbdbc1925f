import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Duplex, PassThrough, Writable } from 'node:stream'
import { parseJson } from '../backend/http-client.ts'
import { BackendRefused, ignoreNotFound } from '../backend/unreachable.ts'
import { type ExecOrder, type ExecProcess, type Handle, SessionRefused, type TerminalSize } from '../executor.ts'
import { escapeAssignment } from '../process/environment.ts'
import { killScript, loginShell, readScript, sessionVariable } from '../process/scripts.ts'
import type { ClusterApi } from './cluster.ts'
import { isPodHandle, makePodName } from './names.ts'
import type { Pod } from './objects.ts'
import { jobContainer } from './pod.ts'
import { getContainerState } from './pod-state.ts'

/**
 * Commands in the first pod of a run, by `pods/exec`, and connections to its ports, by `pods/portforward`. Each is a
 * WebSocket whose messages begin with the number of a channel. The cluster cannot end a command, so it carries a variable
 * by which a second command finds and kills it.
 */

const sessionScript = readScript(import.meta.dirname, 'session.sh')
const execChannels = { stdin: 0, stdout: 1, stderr: 2, status: 3, size: 4 }
const portChannels = { data: 0, failure: 1 }

export async function execInPod(handle: Handle, order: ExecOrder, cluster: ClusterApi): Promise<ExecProcess> {
  const { command, size } = order
  const pod = await findRunningPod(handle, cluster)
  const session = `${sessionVariable}=${randomUUID()}`
  const words = command.length > 0 ? escapeAssignment(command) : loginShell
  const script = ['/bin/sh', '-c', sessionScript, 'berth', size ? 'yes' : '', session, killScript, ...words]
  const socket = await openExec(pod, { command: script, tty: size !== null, stdin: true }, cluster)
  const stdout = new PassThrough()
  const stderr = size ? null : new PassThrough()
  const resize = ({ columns, rows }: TerminalSize) =>
    send(socket, execChannels.size, JSON.stringify({ Width: columns, Height: rows }))
  if (size) void resize(size)
  let isOver = false
  const signal = async (name: string) => {
    if (!isOver) await sendSignal(pod, { session, name }, cluster).catch(() => undefined)
  }
  const stdin = makeInput(socket, size !== null)
  const exitCode = carryOutput(socket, stdout, stderr ?? stdout).then((code) => {
    isOver = code !== null
    stdin.destroy()
    return code
  })
  return {
    stdin,
    stdout,
    stderr,
    exitCode,
    resize,
    signal,
    end: () => {
      const killed = signal('KILL')
      socket.destroy()
      return killed
    },
  }
}

/** The cluster cannot forward a half-close, so the connection lasts until the job closes it. */
export async function connectToPod(handle: Handle, port: number, cluster: ClusterApi): Promise<Duplex> {
  const pod = await findRunningPod(handle, cluster)
  const socket = await open(`pods/${pod}/portforward`, new URLSearchParams({ ports: String(port) }), cluster)
  const messages = readAfterPorts(socket, port)
  const connection: Duplex = new Duplex({
    allowHalfOpen: false,
    read: () =>
      void messages.next().then(
        ({ value }) => connection.push(value ?? null),
        (error: Error) => connection.destroy(error),
      ),
    write: (chunk: Buffer, _encoding, done) => void send(socket, portChannels.data, chunk).then(() => done()),
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  // A session that reads from it reports the error; before that, the error is ignored.
  return connection.on('error', () => undefined)
}

async function* readAfterPorts(socket: AsyncIterable<Buffer>, port: number): AsyncGenerator<Buffer, undefined> {
  const begun = new Set<number | undefined>()
  for await (const message of socket) {
    const [channel] = message
    // The first message of each channel has the number of the port.
    if (!begun.has(channel)) begun.add(channel)
    else if (channel === portChannels.data) yield message.subarray(1)
    else throw new SessionRefused(`Port ${port} of the pod refuses connections`, { cause: message.toString('utf8', 1) })
  }
}

async function findRunningPod(handle: Handle, cluster: ClusterApi): Promise<string> {
  const name = makePodName(handle, 0)
  const pod = isPodHandle(handle) ? await cluster.get<Pod>(`pods/${name}`).catch(ignoreNotFound) : null
  if (pod && getContainerState(pod)?.running) return name
  throw new SessionRefused('The pod of the run is not running')
}

async function open(path: string, query: URLSearchParams, cluster: ClusterApi): Promise<Duplex> {
  try {
    return await cluster.openSocket(path, query)
  } catch (error) {
    throw error instanceof BackendRefused ? new SessionRefused(error.message, { cause: error }) : error
  }
}

interface PodCommand {
  command: readonly string[]
  tty: boolean
  stdin: boolean
}

function openExec(pod: string, { command, tty, stdin }: PodCommand, cluster: ClusterApi): Promise<Duplex> {
  const query = new URLSearchParams(command.map((word) => ['command', word]))
  const facts = { container: jobContainer, stdin, stdout: true, stderr: !tty, tty }
  for (const [name, value] of Object.entries(facts)) query.set(name, String(value))
  return open(`pods/${pod}/exec`, query, cluster)
}

/** Resolves when the message is sent, or the connection is over. */
const send = (socket: Duplex, channel: number, payload: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) return resolve()
    socket.write(Buffer.concat([Buffer.of(channel), Buffer.from(payload)]), () => resolve())
  })

/** Without a terminal the input is in pieces (session.sh). */
const makeInput = (socket: Duplex, hasTerminal: boolean): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      const piece = hasTerminal ? chunk : Buffer.concat([Buffer.from(`${chunk.length}\n`), chunk])
      void send(socket, execChannels.stdin, piece).then(() => done())
    },
    final(done) {
      if (hasTerminal) done()
      else void send(socket, execChannels.stdin, '0\n').then(() => done())
    },
  })

/** Passes output on until the command is over. Returns its exit code; null: the connection broke. */
async function carryOutput(
  socket: AsyncIterable<Buffer>,
  stdout: PassThrough,
  stderr: PassThrough,
): Promise<number | null> {
  let exitCode: number | null = null
  try {
    for await (const message of socket) {
      const [channel] = message
      const bytes = message.subarray(1)
      if (channel === execChannels.status) exitCode = parseExitCode(bytes)
      const to = channel === execChannels.stdout ? stdout : channel === execChannels.stderr ? stderr : null
      if (to && bytes.length > 0 && !to.write(bytes)) await once(to, 'drain')
    }
  } catch {
    // The command is not over, so its exit code is unknown.
  } finally {
    stdout.end()
    stderr.end()
  }
  return exitCode
}

interface Status {
  status?: string
  details?: { causes?: readonly { reason?: string; message?: string }[] }
}

function parseExitCode(bytes: Buffer): number | null {
  const status = parseJson(bytes.toString()) as Status | null | undefined
  if (status?.status === 'Success') return 0
  const code = Number(status?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message)
  return Number.isInteger(code) ? code : null
}

/** Resolves when the signal is delivered. */
async function sendSignal(
  pod: string,
  { session, name }: { session: string; name: string },
  cluster: ClusterApi,
): Promise<void> {
  if (!/^[A-Z0-9]{1,10}$/.test(name)) return
  const command = ['/bin/sh', '-c', killScript, session, name]
  const socket = await openExec(pod, { command, tty: false, stdin: false }, cluster)
  for await (const _ of socket);
}
