import { execFile } from 'node:child_process'
import type { BigIntStats } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import ignore, { type Ignore } from 'ignore'
import { inParallel } from './in-parallel.ts'

/**
 * Finds the files of a snapshot: in a git tree, tracked files and those that are not ignored; elsewhere, all files.
 * `.berthignore` in the folder, in the syntax of `.gitignore`, excludes files in both cases.
 */

export interface FolderOptions {
  /** Patterns, in the syntax of `.gitignore`, of ignored files to include. */
  include?: readonly string[] | undefined
  /** Further patterns of files to exclude. */
  exclude?: readonly string[] | undefined
}

export interface FolderFile {
  path: string
  mode: number
  size: number
  /** Changes with the content, but sometimes later (hash-cache.ts). */
  stamp: string
  /** Time of the last change. */
  changedMs: number
}

export type FolderEntry = { path: string; link: string } | FolderFile

export const isLink = (entry: FolderEntry): entry is Extract<FolderEntry, { link: string }> => 'link' in entry

/** The folder cannot become a snapshot; names the files that prevent it. */
export class FolderRefused extends Error {
  override name = 'FolderRefused'
  /** One line for each of these files, at most ten. */
  readonly details: readonly string[]
  /** The next step for the user. */
  readonly remedy: string

  constructor(message: string, { details, remedy }: { details: readonly string[]; remedy: string }) {
    super(message)
    this.details =
      details.length > shownMax ? [...details.slice(0, shownMax), `and ${details.length - shownMax} more`] : details
    this.remedy = remedy
  }
}

export const ignoreFile = '.berthignore'
const shownMax = 10
const outputBytesMax = 256 * 1024 * 1024
const run = promisify(execFile)

export async function git(folder: string, args: readonly string[], maxBuffer = outputBytesMax): Promise<string | null> {
  const asked = run('git', ['-C', folder, ...args], { maxBuffer, encoding: 'utf8' })
  return asked.then(
    ({ stdout }) => stdout,
    () => null,
  )
}

export const isGitTree = async (folder: string): Promise<boolean> =>
  (await git(folder, ['rev-parse', '--is-inside-work-tree']))?.trim() === 'true'

/** Lists all files and links, ordered by path. Throws FolderRefused. */
export async function listFolder(folder: string, options: FolderOptions = {}): Promise<FolderEntry[]> {
  const rules = await readRules(folder, options)
  const paths = (await isGitTree(folder)) ? await listGitTree(folder, rules) : await walk(folder, rules)
  const read = await readEntries(folder, paths, rules)
  const refused = read.filter((each) => typeof each === 'string')
  if (refused.length === 0) return read.filter((each) => typeof each !== 'string').toSorted(byPath)
  const what = refused.length === 1 ? 'a file' : `${refused.length} files`
  throw new FolderRefused(`${what} cannot be part of a snapshot`, {
    details: refused,
    remedy: `name them in ${ignoreFile}, or pass --exclude`,
  })
}

const byPath = (a: FolderEntry, b: FolderEntry) => (a.path < b.path ? -1 : 1)

/** A text: the path of a file that cannot be part of a snapshot, and the reason. */
async function readEntries(folder: string, paths: readonly string[], rules: Rules): Promise<(FolderEntry | string)[]> {
  const taken = [...new Set(paths)].filter(rules.takes)
  const read = await inParallel(taken, (path) => readEntry(folder, path))
  const nested = taken.filter((_, at) => read[at] === 'FOLDER')
  const entries = read.flatMap((each) => (each === null || each === 'FOLDER' ? [] : [each]))
  for (const path of nested) entries.push(...(await readEntries(folder, await listNested(folder, path), rules)))
  return entries
}

interface Rules {
  takes(path: string): boolean
  /** true: nothing below the folder can be part of the snapshot. */
  skips(directory: string): boolean
  readonly included: Ignore | null
}

async function readRules(folder: string, { include = [], exclude = [] }: FolderOptions): Promise<Rules> {
  const text = await readFile(join(folder, ignoreFile), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const ignored = ignore()
    .add(text)
    .add([...exclude])
  const included = include.length > 0 ? ignore().add([...include]) : null
  return {
    included,
    takes: (path) => !ignored.ignores(path) || included?.ignores(path) === true,
    skips: (directory) => included === null && ignored.ignores(`${directory}/`),
  }
}

async function listGitTree(folder: string, rules: Pick<Rules, 'included'>): Promise<string[]> {
  const list = async (...more: string[]) => {
    const names = await git(folder, ['ls-files', '-z', ...more])
    if (names === null) throw new Error(`git ls-files failed in ${folder}`)
    return names.split('\0').filter((name) => name !== '')
  }
  const listed = await list('--cached', '--others', '--exclude-standard')
  if (rules.included) {
    const ignored = await list('--others', '--ignored', '--exclude-standard')
    listed.push(...ignored.filter((name) => rules.included?.ignores(name)))
  }
  return listed.map((name) => name.replace(/\/$/, ''))
}

/** A repository or submodule inside of the tree has its own rules. An empty submodule was not checked out. */
async function listNested(folder: string, path: string): Promise<string[]> {
  if ((await readdir(join(folder, path))).length === 0) return []
  const names = await listGitTree(join(folder, path), { included: null })
  return names.map((name) => posix.join(path, name))
}

async function walk(folder: string, rules: Rules, below = ''): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = posix.join(below, entry.name)
    if (!entry.isDirectory()) paths.push(path)
    else if (entry.name !== '.git' && !rules.skips(path)) paths.push(...(await walk(folder, rules, path)))
  }
  return paths
}

/** Returns the entry; a text: the reason why it cannot be part of a snapshot; null: the file was deleted. */
async function readEntry(folder: string, path: string): Promise<FolderEntry | string | null> {
  const stats = await lstat(join(folder, path), { bigint: true }).catch(() => null)
  if (stats === null) return path.includes('\ufffd') ? `${path}: its name is not in UTF-8` : null
  if (stats.isDirectory()) return 'FOLDER'
  if (/\p{Cc}/u.test(path)) return `${path}: it has a control character in its name`
  if (stats.isSymbolicLink()) return readTarget(path, await readlink(join(folder, path)))
  if (!stats.isFile()) return `${path}: it is ${kindOf(stats)}`
  return toFile(path, stats)
}

export function toFile(path: string, stats: BigIntStats): FolderFile {
  const { mode, size, mtimeNs, ctimeNs, ino, mtimeMs, ctimeMs } = stats
  const stamp = `${size} ${mtimeNs} ${ctimeNs} ${ino}`
  const changedMs = Math.max(Number(mtimeMs), Number(ctimeMs))
  return { path, mode: Number(mode) & 0o777, size: Number(size), stamp, changedMs }
}

function readTarget(path: string, link: string): FolderEntry | string {
  const leaves = posix.isAbsolute(link) || /^\.\.(\/|$)/.test(posix.join(posix.dirname(path), link))
  return leaves ? `${path}: it is a link that leads outside of the folder, to ${link}` : { path, link }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isSocket()) return 'a socket'
  if (stats.isFIFO()) return 'a named pipe'
  return 'a device'
}

export interface GitFacts {
  commit: string | null
  branch: string | null
  remote: string | null
  changed: number
  diff: string | null
}

const diffBytesMax = 1024 * 1024

/** null: the folder is in no git tree. */
export async function readGitFacts(folder: string): Promise<GitFacts | null> {
  if (!(await isGitTree(folder))) return null
  const line = async (...args: string[]) => (await git(folder, args))?.trim() || null
  const status = await git(folder, ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--', '.'])
  const diff = await git(folder, ['diff', '--no-ext-diff', '--no-color', 'HEAD', '--', '.'], diffBytesMax)
  const remote = await line('config', '--get', 'remote.origin.url')
  return {
    commit: await line('rev-parse', '--verify', '--quiet', 'HEAD'),
    branch: await line('symbolic-ref', '--short', '--quiet', 'HEAD'),
    remote: remote?.replace(/^(\w+:\/\/)[^/@]*@/, '$1') ?? null,
    changed: status?.split('\0').filter((each) => each !== '').length ?? 0,
    diff: diff?.replaceAll('\0', '\ufffd') || null,
  }
}
