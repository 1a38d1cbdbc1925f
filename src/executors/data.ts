import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { StartFailed } from './executor.ts'

/**
 * The mounts of a job's `data`: `name/sub/dir:/path/in/job` below a root of the configuration, or an absolute path
 * below one. The source is resolved through all symbolic links; the result is checked and mounted. Without roots and
 * with one user every directory of the machine may be mounted, because that user can read it anyway.
 */
export interface DataRoots {
  /** Paths by name. */
  roots: Readonly<Record<string, string>>
  hasUsers: boolean
}

export interface Mount {
  /** A directory, without symbolic links. */
  source: string
  target: string
  /** The root that it lies under, and the way from there; null: there are no roots. */
  below: { root: string; way: string } | null
}

export const mountsOf = (data: readonly string[], roots: DataRoots): Promise<Mount[]> =>
  Promise.all(data.map((mount) => mountOf(mount, roots)))

async function mountOf(mount: string, { roots, hasUsers }: DataRoots): Promise<Mount> {
  const [given = '', target = ''] = mount.split(':')
  const refuse = (why: string) => new StartFailed('BAD_SPEC', `data ${mount}: ${why}`)
  const path = isAbsolute(given) ? given : pathOf(given, roots)
  if (path === null) throw refuse(`there is no data root ${given.split('/')[0]}; ${known(roots)}`)
  const source = await realpath(path).catch(() => null)
  if (source === null || !(await stat(source)).isDirectory()) throw refuse(`${path} is not a directory`)
  const isAny = !hasUsers && Object.keys(roots).length === 0
  const below = isAny ? null : await rootOf(source, roots)
  if (!isAny && !below) throw refuse(`${path} does not lie under a data root; ${known(roots)}`)
  if (source.includes(':')) throw refuse(`${source} has a colon, which a mount cannot have`)
  return { source, target, below }
}

function pathOf(source: string, roots: DataRoots['roots']): string | null {
  const [name = '', ...rest] = source.split('/')
  const root = Object.hasOwn(roots, name) ? roots[name] : undefined
  return root === undefined ? null : join(root, ...rest)
}

async function rootOf(path: string, roots: DataRoots['roots']): Promise<Mount['below']> {
  const ways = await Promise.all(Object.values(roots).map(async (root) => ({ root, way: await wayFrom(root, path) })))
  const found = ways.find(({ way }) => way !== null)
  return found?.way == null ? null : { root: found.root, way: found.way }
}

/** null: the path does not lie under the root. */
async function wayFrom(root: string, path: string): Promise<string | null> {
  const real = await realpath(root).catch(() => null)
  if (real === null) return null
  const way = relative(real, path)
  return way === '..' || way.startsWith('../') || isAbsolute(way) ? null : way
}

function known(roots: DataRoots['roots']): string {
  const names = Object.keys(roots)
  return names.length === 0 ? 'the configuration has none (data.roots)' : `there are ${names.join(', ')}`
}
