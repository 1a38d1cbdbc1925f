import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import type { Clock } from '../../platform/clock.ts'
import { BackendRefused } from '../backend/unreachable.ts'
import { type ExecOrder, type ExecProcess, type Handle, SessionRefused, type TerminalSize } from '../executor.ts'
import { killScript, loginShell, sessionVariable } from '../process/scripts.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'
import { labels } from './labels.ts'
import { findContainerAddress, parsePhase } from './observation.ts'
import { Frames } from './output.ts'
import { refusesConnections } from './remote-port.ts'

/**
 * Commands in the container of a run, by the exec API of the engine, and connections to the address of the container. The
 * engine cannot end a command, so it carries a variable by which a second command finds and kills it.
 */

const connectMsMax = 10_000
const endedMs = 100
const endedLooks = 20

interface ExecState {
  Running: boolean
  ExitCode: number | null
}

export interface ExecParts {
  engine: Engine
  containers: Containers
  clock: Clock
}

export async function execInContainer(handle: Handle, order: ExecOrder, parts: ExecParts): Promise<ExecProcess> {
  const { engine } = parts
  const { command, size } = order
  const { Config } = await findRunning(handle, parts.containers)
  const session = `${sessionVariable}=${randomUUID()}`
  const id = await createExec(engine, handle, {
    Cmd: command.length > 0 ? command : loginShell,
    Tty: size !== null,
    AttachStdin: true,
    WorkingDir: Config.Labels?.[labels.workdir],
    Env: [session, ...(size ? ['TERM=xterm-256color'] : [])],
  })
  const socket = await engine.hijack(`/exec/${id}/start`, { Detach: false, Tty: size !== null })
  socket.on('error', () => undefined)
  const resize = async ({ columns: w, rows: h }: TerminalSize) => {
    await engine.post(`/exec/${id}/resize`, { h, w }).catch(() => undefined)
  }
  // Like on this machine, background processes of a command continue after its end.
  const send = async (signal: string) => {
    if (!stdout.readableEnded) await kill(engine, handle, { session, signal }).catch(() => undefined)
  }
  const { stdout, stderr } = size ? { stdout: socket, stderr: null } : separate(socket)
  const exitCode = once(stdout, 'close')
    .then(() => readExitCode(id, parts))
    .catch(() => null)
  // Waits, so that a later size cannot be set before this one.
  if (size) await resize(size)
  return {
    stdin: socket,
    stdout,
    stderr,
    exitCode,
    resize,
    signal: send,
    end: () => {
      const killed = send('KILL')
      socket.destroy()
      return killed
    },
  }
}

/** The container's own address: never the machine's, nor that of another container. */
export async function connectToContainer(handle: Handle, port: number, parts: ExecParts): Promise<Duplex> {
  const { engine, containers } = parts
  const open = engine.openPort ?? openPortHere
  if (engine.isRemote && !engine.openPort)
    throw new SessionRefused('The server reaches ports of containers on other machines only through ssh')
  const { ip } = findContainerAddress(await findRunning(handle, containers))
  if (ip === undefined)
    throw new SessionRefused('The container has no address of its own, so its ports are not reached')
  const connection = await open(ip, port)
  // The container may have ended, and another container may have its address now.
  const found = await findRunning(handle, containers).catch((error: unknown) => {
    connection.destroy()
    throw error
  })
  if (connection.destroyed) throw new SessionRefused(`The connection to port ${port} of the container broke`)
  if (findContainerAddress(found).ip === ip) return connection
  connection.destroy()
  throw notRunning()
}

async function openPortHere(address: string, port: number): Promise<Socket> {
  const socket = connect({ host: address, port, allowHalfOpen: true })
  // The connection may break before a session reads from the socket, which then reports the error.
  socket.on('error', () => undefined)
  const late = setTimeout(() => socket.destroy(new Error('no answer')), connectMsMax)
  try {
    await once(socket, 'connect')
  } catch (cause) {
    throw new SessionRefused(refusesConnections(port), { cause })
  } finally {
    clearTimeout(late)
  }
  return socket
}

const notRunning = () => new SessionRefused('The container of the run is not running')

async function findRunning(handle: Handle, containers: Containers) {
  const found = await containers.find(handle)
  if (!found || parsePhase(found.State.Status) !== 'runs') throw notRunning()
  return found
}

async function createExec(engine: Engine, handle: Handle, body: object): Promise<string> {
  try {
    const all = { AttachStdout: true, AttachStderr: true, ...body }
    return (await engine.post<{ Id: string }>(`/containers/${handle}/exec`, undefined, all))?.Id ?? ''
  } catch (error) {
    throw error instanceof BackendRefused ? new SessionRefused(error.message, { cause: error }) : error
  }
}

/** Separates the streams of a connection without a terminal. */
function separate(socket: Duplex): { stdout: PassThrough; stderr: PassThrough } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const frames = new Frames()
  const pass = async () => {
    for await (const piece of socket as AsyncIterable<Buffer>)
      for (const { stream, bytes } of frames.read(piece)) {
        const to = stream === 'STDERR' ? stderr : stdout
        if (!to.write(bytes)) await once(to, 'drain')
      }
  }
  void pass()
    .catch(() => undefined)
    .finally(() => {
      stdout.end()
      stderr.end()
    })
  return { stdout, stderr }
}

/** The engine may report the end a moment after the last output. */
async function readExitCode(id: string, { engine, clock }: ExecParts): Promise<number | null> {
  for (let looks = 0; looks < endedLooks; looks++) {
    const state = await engine.get<ExecState>(`/exec/${id}/json`)
    if (!state.Running) return state.ExitCode
    await clock.sleep(endedMs)
  }
  return null
}

/** An image without a shell cannot run this script; there the command ends with the run. */
async function kill(
  engine: Engine,
  handle: Handle,
  { session, signal }: { session: string; signal: string },
): Promise<void> {
  if (!/^[A-Z0-9]{1,10}$/.test(signal)) return
  const command = ['/bin/sh', '-c', killScript, session, signal]
  const id = await createExec(engine, handle, { Cmd: command })
  await engine.post(`/exec/${id}/start`, undefined, { Detach: true })
}
