import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { StartFailed } from '../executor.ts'

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

/** `source:target`, the form of the engine. */
export function bindsOf(data: readonly string[], roots: DataRoots): Promise<string[]> {
  return Promise.all(data.map((mount) => bindOf(mount, roots)))
}

async function bindOf(mount: string, { roots, hasUsers }: DataRoots): Promise<string> {
  const [source = '', target = ''] = mount.split(':')
  const refuse = (why: string) => new StartFailed('BAD_SPEC', `data ${mount}: ${why}`)
  const path = isAbsolute(source) ? source : pathOf(source, roots)
  if (path === null) throw refuse(`there is no data root ${source.split('/')[0]}; ${known(roots)}`)
  const real = await realpath(path).catch(() => null)
  if (real === null || !(await stat(real)).isDirectory()) throw refuse(`${path} is not a directory`)
  const isAny = !hasUsers && Object.keys(roots).length === 0
  if (!isAny && !(await liesUnderOne(real, roots)))
    throw refuse(`${path} does not lie under a data root; ${known(roots)}`)
  if (real.includes(':')) throw refuse(`${real} has a colon, which a mount cannot have`)
  return `${real}:${target}`
}

function pathOf(source: string, roots: DataRoots['roots']): string | null {
  const [name = '', ...rest] = source.split('/')
  const root = Object.hasOwn(roots, name) ? roots[name] : undefined
  return root === undefined ? null : join(root, ...rest)
}

async function liesUnderOne(path: string, roots: DataRoots['roots']): Promise<boolean> {
  const real = await Promise.all(Object.values(roots).map((root) => realpath(root).catch(() => null)))
  return real.some((root) => root !== null && isWithin(root, path))
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

function known(roots: DataRoots['roots']): string {
  const names = Object.keys(roots)
  return names.length === 0 ? 'the configuration has none (data.roots)' : `there are ${names.join(', ')}`
}
