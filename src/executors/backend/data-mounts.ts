import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { join as joinInJob } from 'node:path/posix'
import { type Account, switchToAccount } from '../accounts/account.ts'
import { StartFailed } from '../executor.ts'

/**
 * Checks the mounts of a job's `data`: `name/sub/dir:/path/in/job` below a root of the configuration, or an absolute
 * path below a root. Each source directory is opened and checked: after resolving all symbolic links it must be below a
 * root, and the account of the job must be able to enter it. A job may replace the directory after the check, so the
 * backend compares the identity of the mounted directory before the command starts. The directories stay open until
 * then, so that their identities are not reused.
 *
 * Without roots and with one user, every directory may be mounted, because that user can read it anyway.
 */
export interface DataRoots {
  roots: Readonly<Record<string, string>>
  hasUsers: boolean
}

export interface Mount {
  /** Path of the directory, without symbolic links. */
  source: string
  target: string
  /** The root, and the path below the root; null: any directory may be mounted. */
  below: { root: string; way: string } | null
  /**
   * `device:inode` of the checked directory; null: unneeded because any directory may be mounted, or unknown because
   * the system has no /proc.
   */
  identity: string | null
}

export interface OpenMounts extends AsyncDisposable {
  mounts: readonly Mount[]
}

export interface DataRules extends DataRoots {
  /** The account that must be able to enter each source; null: the server's account. */
  account: Account | null
  /** Paths in the job where the backend mounts its files. */
  reserved: readonly string[]
}

/**
 * Opens and checks the mounts. Throws StartFailed. The caller disposes of the result when the backend has mounted them.
 */
export async function openMounts(data: readonly string[], rules: DataRules): Promise<OpenMounts> {
  const entries = data.map(parse)
  for (const entry of entries) demandApart(entry, entries, rules.reserved)
  const folders: FileHandle[] = []
  const close = async () => void (await Promise.all(folders.map((folder) => folder.close())))
  try {
    const opened: Opened[] = []
    for (const entry of entries) opened.push(await openEntry(entry, rules, folders))
    if (rules.account) await demandAccess(opened, rules.account, rules)
    return { mounts: opened.map(({ mount }) => mount), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Returns mounts for another machine, whose folders the server cannot open and compare: only whole roots, because no
 * job can replace them.
 */
export function mountRoots(data: readonly string[], { roots, hasUsers, reserved }: DataRules): OpenMounts {
  const entries = data.map(parse)
  const isAny = !hasUsers && Object.keys(roots).length === 0
  const mounts = entries.map((entry): Mount => {
    const { target } = entry
    demandApart(entry, entries, reserved)
    const source = resolveSource(entry, roots)
    if (!isAny && !Object.values(roots).includes(source))
      throw refuse(
        entry,
        `on another machine a job mounts a whole data root, because the server cannot check folders there; ${known(roots)}`,
      )
    return { source, target, below: isAny ? null : { root: source, way: '' }, identity: null }
  })
  return { mounts, [Symbol.asyncDispose]: async () => undefined }
}

interface Entry {
  text: string
  given: string
  target: string
}

interface Opened {
  entry: Entry
  mount: Mount
  /** `device:inode` */
  found: string
}

function parse(text: string): Entry {
  const [given = '', target = ''] = text.split(':')
  return { text, given, target: normaliseTarget(target) }
}

export const normaliseTarget = (path: string): string => joinInJob(path, '.').replace(/(.)\/$/, '$1')

const refuse = ({ text }: Entry, why: string) => new StartFailed('BAD_SPEC', `data ${text}: ${why}`)

/** Paths that every container engine mounts in each job. */
const engineMounts = ['/proc', '/sys', '/dev/pts', '/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/run/secrets']

/** Rejects a mount inside of another mount, because the engine would create a directory as root in the outer source. */
function demandApart(entry: Entry, entries: readonly Entry[], reserved: readonly string[]): void {
  const others = entries.filter((other) => other !== entry).map(({ target }) => target)
  const inner = [...others, ...engineMounts, ...reserved].find((path) => isInside(path, entry.target))
  if (inner !== undefined)
    throw refuse(entry, `${inner} is mounted too, and would lie inside ${entry.target}; choose targets side by side`)
}

export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

async function openEntry(entry: Entry, rules: DataRules, folders: FileHandle[]): Promise<Opened> {
  const { target } = entry
  const isAny = !rules.hasUsers && Object.keys(rules.roots).length === 0
  const path = resolveSource(entry, rules.roots)
  // Uses the same message for a missing path and a path outside of the roots, so it does not reveal which paths exist.
  const notFound = refuse(entry, isAny ? `${path} is not a directory` : notBelow(path, rules))
  const folder = await openFolder(path).catch(() => null)
  if (folder === null) throw notFound
  folders.push(folder.handle)
  const below = isAny ? null : await findRoot(folder.source, rules.roots)
  if (!isAny && !below) throw notFound
  const { source } = folder
  if (source.includes(':')) throw refuse(entry, `${source} has a colon, which a mount cannot have`)
  const { dev, ino } = await folder.handle.stat({ bigint: true })
  const found = `${dev}:${ino}`
  return { entry, found, mount: { source, target, below, identity: isAny || !hasProc ? null : found } }
}

const notBelow = (path: string, { roots, account }: DataRules) =>
  `${path} is not a directory below a data root${account ? ` that the account ${account.name} can enter` : ''}; ${known(roots)}`

const hasProc = process.platform === 'linux'
/** O_PATH of Linux: opens a directory without the permission to read it. */
const openPath = 0o10000000

/** Opens a directory and returns its path without symbolic links. If the system allows, both are read atomically. */
async function openFolder(path: string): Promise<{ handle: FileHandle; source: string }> {
  const source = hasProc ? path : await realpath(path)
  const handle = await open(source, constants.O_DIRECTORY | (hasProc ? openPath : constants.O_RDONLY))
  return { handle, source: hasProc ? await readlink(`/proc/self/fd/${handle.fd}`) : source }
}

/** Throws unless a process of the account can enter the opened directories. */
async function demandAccess(opened: readonly Opened[], account: Account, rules: DataRules): Promise<void> {
  const entered = await enter(
    opened.map(({ mount }) => mount.source),
    account,
  )
  const refused = opened.find(({ mount, found }) => !entered.has(`${found} ${mount.source}/.`))
  if (refused) throw refuse(refused.entry, notBelow(refused.mount.source, rules))
}

/** Returns `device:inode path` of each directory that the account can enter. */
async function enter(sources: readonly string[], account: Account): Promise<ReadonlySet<string>> {
  if (sources.length === 0) return new Set()
  const paths = sources.map((source) => `${source}/.`)
  const [command = '', ...args] = [...switchToAccount(account), 'stat', '-L', '-c', '%d:%i %n', '--', ...paths]
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, maxBuffer: 2 ** 24 }
  const printed = await new Promise<string>((resolve, reject) => {
    // The command fails if some directory cannot be entered; its output lists the others.
    execFile(command, args, options, (error, stdout) =>
      error && typeof error.code !== 'number' ? reject(error) : resolve(stdout),
    )
  })
  return new Set(printed.split('\n'))
}

function resolveSource(entry: Entry, roots: DataRoots['roots']): string {
  if (isAbsolute(entry.given)) return entry.given
  const [name = '', ...rest] = entry.given.split('/')
  const root = Object.hasOwn(roots, name) ? roots[name] : undefined
  if (root === undefined) throw refuse(entry, `the data root ${name} does not exist; ${known(roots)}`)
  return join(root, ...rest)
}

async function findRoot(path: string, roots: DataRoots['roots']): Promise<Mount['below']> {
  const ways = await Promise.all(
    Object.values(roots).map(async (root) => ({ root, way: await relativePath(root, path) })),
  )
  const found = ways.find(({ way }) => way !== null)
  return found?.way == null ? null : { root: found.root, way: found.way }
}

async function relativePath(root: string, path: string): Promise<string | null> {
  const real = await realpath(root).catch(() => null)
  if (real === null) return null
  const way = relative(real, path)
  return way === '..' || way.startsWith('../') || isAbsolute(way) ? null : way
}

function known(roots: DataRoots['roots']): string {
  const names = Object.keys(roots)
  return names.length === 0 ? 'the configuration has none (data.roots)' : `there are ${names.join(', ')}`
}
