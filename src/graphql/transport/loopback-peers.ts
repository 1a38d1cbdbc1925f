import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Log } from '../../platform/log.ts'
import { Unavailable } from '../../platform/tx.ts'

/** Returns why the peer is refused, or null. */
export type PeerCheck = (socket: Socket) => Promise<string | null>

const tables = ['/proc/net/tcp', '/proc/net/tcp6']
/** Maximum reads: a read may miss a row while the table changes. */
const readsMax = 3

/**
 * Finds the system account at the other end of a loopback connection. Single-user mode has no login, so only the
 * account of the server and root are served: any other account could run commands as the server. Linux lists the owner
 * of every TCP socket in /proc/net/tcp and tcp6; on other systems every account is served (docs/security.md). A socket
 * that its process has closed has no owner (uid 0, inode 0) and is refused. If the tables cannot be read, the request
 * is Unavailable.
 */
export function createPeerCheck(log: Log, read: () => Promise<Rows> = readRows): PeerCheck {
  const own = process.getuid?.()
  const readShared = shareReads(read)
  const verdicts = new WeakMap<Socket, Promise<string | null>>()

  async function judge(socket: Socket): Promise<string | null> {
    const owner = await findOwner(socket, readShared)
    if (owner === 'unsupported') return null
    if (owner === 0 || owner === own) return null
    log.warn(
      { uid: owner },
      'refused another account of this machine: single-user mode serves only its own account and root',
    )
    return describeRefusal(owner)
  }

  return (socket) => {
    const known = verdicts.get(socket)
    if (known) return known
    const verdict = judge(socket)
    verdicts.set(socket, verdict)
    verdict.catch(() => verdicts.delete(socket))
    return verdict
  }
}

const describeRefusal = (owner: number | 'gone') =>
  `${owner === 'gone' ? 'The account of this connection is unknown' : `The account with uid ${owner} is not allowed`}: ` +
  'in single-user mode Berth serves only the account that started it, and root. To share the server, start it with users: ' +
  'docs/users-and-tokens.md, auth.bootstrapToken'

/** The uid of the peer. `gone`: no process has the other end. `unsupported`: this system has no such tables. */
type Owner = number | 'gone' | 'unsupported'

/** Owner by the two ends of a connection. null: this system has no tables. */
type Rows = ReadonlyMap<string, Owner> | null

async function findOwner(socket: Socket, read: () => Promise<Rows>): Promise<Owner> {
  let owner: Owner = 'gone'
  for (let reads = 0; owner === 'gone' && reads < readsMax; reads++) {
    const rows = await read()
    if (rows === null) return 'unsupported'
    owner = nameEnds(socket).flatMap((name) => rows.get(name) ?? [])[0] ?? 'gone'
  }
  return owner
}

/** Shares reads between requests. A read must begin after its request, so requests during a read share the next one. */
function shareReads(read: () => Promise<Rows>): () => Promise<Rows> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<Rows> | undefined
  const begin = () => {
    next = undefined
    const rows = read()
    last = rows.catch(() => {})
    return rows
  }
  return () => {
    next ??= last.then(begin)
    return next
  }
}

async function readRows(): Promise<Rows> {
  const texts = await Promise.all(tables.map((path) => readFile(path, 'latin1').catch(ignoreMissing)))
  if (texts[0] == null) return null
  const rows = texts.flatMap((text) => text?.split('\n').slice(1) ?? [])
  return new Map(
    rows.flatMap((row): [string, Owner][] => {
      const [, local, remote, , , , , uid, , inode] = row.trim().split(/ +/)
      return inode === undefined ? [] : [[`${local} ${remote}`, inode === '0' ? 'gone' : Number(uid)]]
    }),
  )
}

/** Ignores a missing tcp6, which does not exist if IPv6 is disabled. */
function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw new Unavailable('The accounts of connections cannot be read', { cause: error })
}

/** The key of the connection in the tables, as seen from its other end. IPv4 connections may use IPv6 sockets. */
function nameEnds({ remoteAddress, remotePort, localAddress, localPort }: Socket): string[] {
  const [from, to] = [remoteAddress, localAddress].map(formatAddress)
  if (!from || !to) return []
  return ['', mapped].map((prefix) => `${prefix}${from}:${hex(remotePort)} ${prefix}${to}:${hex(localPort)}`)
}

/** The prefix of an IPv4 address as IPv6, in the notation of the tables. */
const mapped = '0000000000000000FFFF0000'

const hex = (port = 0) => port.toString(16).toUpperCase().padStart(4, '0')

/** Formats a loopback address as the tables do: words of four bytes, each in machine order. */
function formatAddress(address = ''): string | null {
  if (address === '::1') return `${'0'.repeat(24)}01000000`
  const parts = address
    .replace(/^::ffff:/i, '')
    .split('.')
    .map(Number)
  if (parts.length !== 4) return null
  return parts
    .reverse()
    .map((part) => part.toString(16).toUpperCase().padStart(2, '0'))
    .join('')
}
