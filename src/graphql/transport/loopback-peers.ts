import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Log } from '../../platform/log.ts'
import { Unavailable } from '../../platform/tx.ts'

/**
 * Which account of the machine is at the other end of a loopback connection. In single-user mode there is no login, so
 * without this check every account of the machine could run commands as the account of the server. That account and
 * root are served; others are refused.
 *
 * Linux tells the owner of every TCP socket in /proc/net/tcp and tcp6. Other systems do not: there every account of the
 * machine is served, as docs/security.md says. A socket that its process has closed already has no owner any more (it
 * reads as uid 0 with inode 0), so it is refused. The verdict holds as long as the connection. If the tables cannot be
 * read, the request is Unavailable, and the next one is judged anew.
 */

export type PeerCheck = (socket: Socket) => Promise<string | null>

const tables = ['/proc/net/tcp', '/proc/net/tcp6']
/** A row may be missed when the table changes while it is read. */
const readsMax = 3

export function createPeerCheck(log: Log, read: () => Promise<Rows> = readRows): PeerCheck {
  const own = process.getuid?.()
  const readShared = shared(read)
  const verdicts = new WeakMap<Socket, Promise<string | null>>()

  async function judge(socket: Socket): Promise<string | null> {
    const owner = await ownerOf(socket, readShared)
    if (owner === 'unknowable') return null
    if (owner === 0 || owner === own) return null
    log.warn(
      { uid: owner },
      'refused another account of this machine: single-user mode serves only its own account and root',
    )
    return refusalOf(owner)
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

const refusalOf = (owner: number | 'gone') =>
  `${owner === 'gone' ? 'The account of this connection is unknown' : `The account with uid ${owner} is not allowed`}: ` +
  'in single-user mode Berth serves only the account that started it, and root. To share the server, start it with users: ' +
  'docs/users-and-tokens.md, auth.bootstrapToken'

/** A uid; `gone`: no process holds the other end; `unknowable`: this system does not tell. */
type Owner = number | 'gone' | 'unknowable'

/** Owner by the two ends of a connection; null: there is no such table. */
type Rows = ReadonlyMap<string, Owner> | null

async function ownerOf(socket: Socket, read: () => Promise<Rows>): Promise<Owner> {
  let owner: Owner = 'gone'
  for (let reads = 0; owner === 'gone' && reads < readsMax; reads++) {
    const rows = await read()
    if (rows === null) return 'unknowable'
    owner = namesOf(socket).flatMap((name) => rows.get(name) ?? [])[0] ?? 'gone'
  }
  return owner
}

/** A read begins after it was asked for: those that ask during a read share the next one. */
function shared(read: () => Promise<Rows>): () => Promise<Rows> {
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
  const texts = await Promise.all(tables.map((path) => readFile(path, 'latin1').catch(missing)))
  if (texts[0] == null) return null
  const rows = texts.flatMap((text) => text?.split('\n').slice(1) ?? [])
  return new Map(
    rows.flatMap((row): [string, Owner][] => {
      const [, local, remote, , , , , uid, , inode] = row.trim().split(/ +/)
      return inode === undefined ? [] : [[`${local} ${remote}`, inode === '0' ? 'gone' : Number(uid)]]
    }),
  )
}

/** IPv6 can be switched off; then tcp6 is absent. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw new Unavailable('The accounts of connections cannot be read', { cause: error })
}

/** How the tables name the connection from its other end. A client may reach an IPv4 address through an IPv6 socket. */
function namesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string[] {
  const [from, to] = [remoteAddress, localAddress].map(bytesOf)
  if (!from || !to) return []
  return ['', mapped].map((prefix) => `${prefix}${from}:${hex(remotePort)} ${prefix}${to}:${hex(localPort)}`)
}

/** The first twelve bytes of an IPv4 address as IPv6, in the notation of the table. */
const mapped = '0000000000000000FFFF0000'

const hex = (port = 0) => port.toString(16).toUpperCase().padStart(4, '0')

/** A loopback address in the notation of the tables: words of four bytes, each in the order of the machine. */
function bytesOf(address = ''): string | null {
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
