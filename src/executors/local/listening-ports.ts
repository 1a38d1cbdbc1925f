import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { unlessMissingSync } from '../backend/file-errors.ts'
import { SessionRefused } from '../executor.ts'
import { type ClaimedJournal, findMembers } from './supervision.ts'

/**
 * Connects to a port of this machine, if a process of the job listens on it: the table of sockets names the inode of a
 * listener, and the files of the job's processes must have that inode.
 */

interface Listener {
  address: string
  inode: string
}

const listenState = '0A'

export async function connectToRun(runId: string, journal: ClaimedJournal, port: number): Promise<Socket> {
  const find = async () => {
    const own = readSocketInodes(await listPids(runId, journal))
    return listListeners(port).find(({ inode }) => own.has(inode))
  }
  const listener = await find()
  if (!listener) throw notListening(port)
  const socket = connect({ host: listener.address, port, allowHalfOpen: true })
  try {
    await once(socket, 'connect')
  } catch (cause) {
    throw new SessionRefused(`Port ${port} refuses connections`, { cause })
  }
  // Another process may have taken the port in between.
  if ((await find())?.inode === listener.inode) return socket
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
  const text = unlessMissingSync(() => readFileSync(join(cgroup, 'cgroup.procs'), 'utf8')) ?? ''
  const below = unlessMissingSync(() => readdirSync(cgroup, { withFileTypes: true })) ?? []
  const own = text.split('\n').filter(Boolean).map(Number)
  return [...own, ...below.flatMap((entry) => (entry.isDirectory() ? readPids(join(cgroup, entry.name)) : []))]
}

function readSocketInodes(pids: readonly number[]): ReadonlySet<string> {
  const links = pids.flatMap((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).map((file) => readlinkSync(`/proc/${pid}/fd/${file}`))
    } catch {
      // The process ended, or is of another account.
      return []
    }
  })
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
}

/** Listeners on the port, of all processes in the network of the server. */
const listListeners = (port: number): Listener[] =>
  ['tcp', 'tcp6'].flatMap((table) => {
    const text = unlessMissingSync(() => readFileSync(`/proc/net/${table}`, 'utf8')) ?? ''
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

/** Words of four bytes in the order of the machine. A listener on every address is reached on the loopback. */
function parseAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32()
  const isAny = bytes.every((byte) => byte === 0)
  if (bytes.length === 4) return isAny ? '127.0.0.1' : [...bytes].join('.')
  return isAny ? '::1' : (bytes.toString('hex').match(/.{4}/g) ?? []).join(':')
}
