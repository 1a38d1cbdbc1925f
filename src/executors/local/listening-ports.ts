import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSerial } from '../../platform/serial.ts'
import { mapInSlices } from '../../platform/slices.ts'
import { nullIfMissingSync } from '../backend/file-errors.ts'
import { SessionRefused } from '../executor.ts'
import { type ClaimedJournal, findMembers } from './end-job.ts'

/**
 * Connects to a port of this machine if a process of the job listens on it: the table of sockets has the inode of a
 * listener, and a process of the job must have that inode open.
 */

interface Listener {
  address: string
  inode: string
}

const listenState = '0A'

/** Runs one search at a time per run, because a search reads all files of its processes. */
const searches = createSerial()

export async function connectToRun(runId: string, journal: ClaimedJournal, port: number): Promise<Socket> {
  const find = (isWanted: (listener: Listener) => boolean) =>
    searches.run(runId, async () => {
      const listeners = listListeners(port).filter(isWanted)
      return listeners.length === 0 ? null : findHeld(listeners, await listPids(runId, journal))
    })
  const listener = await find(() => true)
  if (!listener) throw notListening(port)
  const socket = connect({ host: listener.address, port, allowHalfOpen: true })
  // The connection may break before a session reads from the socket, which then reports the error.
  socket.on('error', () => undefined)
  try {
    await once(socket, 'connect')
  } catch (cause) {
    throw new SessionRefused(`Port ${port} refuses connections`, { cause })
  }
  // Another process may have taken the port in between.
  const isHeld = await find(({ inode }) => inode === listener.inode).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
  if (socket.destroyed) throw new SessionRefused(`The connection to port ${port} broke`)
  if (isHeld) return socket
  socket.destroy()
  throw notListening(port)
}

const notListening = (port: number) => new SessionRefused(`No process of the job listens on port ${port}`)

async function listPids(runId: string, journal: ClaimedJournal): Promise<number[]> {
  const { cgroup } = journal.claim
  if (cgroup !== null) return readPids(cgroup)
  return (await findMembers(runId, journal)).map(({ pid }) => pid)
}

function readPids(cgroup: string): number[] {
  const text = nullIfMissingSync(() => readFileSync(join(cgroup, 'cgroup.procs'), 'utf8')) ?? ''
  const below = nullIfMissingSync(() => readdirSync(cgroup, { withFileTypes: true })) ?? []
  const own = text.split('\n').filter(Boolean).map(Number)
  return [...own, ...below.flatMap((entry) => (entry.isDirectory() ? readPids(join(cgroup, entry.name)) : []))]
}

/** Returns the first of these listeners that one of the processes has open. */
async function findHeld(listeners: readonly Listener[], pids: readonly number[]): Promise<Listener | null> {
  const byLink = new Map(listeners.map((each) => [`socket:[${each.inode}]`, each]))
  for (const pid of pids) {
    const directory = `/proc/${pid}/fd`
    // The process may have ended, or belong to another account.
    const files = await readdir(directory).catch(() => [])
    const held = await mapInSlices(files, (file) => byLink.get(readLink(join(directory, file))))
    const found = held.find((each) => each !== undefined)
    if (found) return found
  }
  return null
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // The file was closed.
    return ''
  }
}

/** Lists the listeners on the port, of all processes in the server's network. */
const listListeners = (port: number): Listener[] =>
  ['tcp', 'tcp6'].flatMap((table) => {
    const text = nullIfMissingSync(() => readFileSync(`/proc/net/${table}`, 'utf8')) ?? ''
    return text
      .split('\n')
      .slice(1)
      .flatMap((line) => parseListener(line, port) ?? [])
  })

function parseListener(line: string, port: number): Listener | null {
  const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
  const [address = '', hex = ''] = local.split(':')
  return state === listenState && Number.parseInt(hex, 16) === port ? { address: parseAddress(address), inode } : null
}

/** Parses an address: words of four bytes in native order. A listener on all addresses is reached on loopback. */
function parseAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32()
  const isAny = bytes.every((byte) => byte === 0)
  if (bytes.length === 4) return isAny ? '127.0.0.1' : [...bytes].join('.')
  return isAny ? '::1' : (bytes.toString('hex').match(/.{4}/g) ?? []).join(':')
}
