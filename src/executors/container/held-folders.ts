import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, existsSync } from 'node:fs'
import { type FileHandle, mkdir, mkdtemp, open, readdir, readFile, readlink, rmdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Log } from '../../platform/log.ts'
import type { Mount } from '../data.ts'
import { StartFailed } from '../executor.ts'

/**
 * Folders of `data` that cannot be exchanged between their check and their mount. The engine looks the path of a mount up
 * when it starts the container, and an account that can write below a data root may have put a link there by then. So the
 * server opens the folder, compares the place of what it opened with what was checked, and mounts the open folder on a
 * directory of its own, which is the path that the engine gets. A container has mounts of its own, so this one is taken
 * away as soon as the container runs.
 *
 * Only a server that may mount can do that (root). The name of a directory begins with the process that made it: the
 * next server takes away what a killed one left.
 */

export interface HeldFolders {
  mounts: readonly Mount[]
  /** After this the engine cannot mount them any more. */
  release(): Promise<void>
}

export interface Folders {
  hold(mounts: readonly Mount[]): Promise<HeldFolders>
}

const execute = promisify(execFile)
const prefix = '.folder-'
/** Opens a folder without the right to read it (`O_PATH` of Linux). */
const pathOnly = 0o10000000

export async function createFolders(directory: string, log: Log): Promise<Folders> {
  const place = resolve(directory)
  const mayHold = await mayMount()
  const release = (path: string) =>
    releaseOne(path).catch((err: unknown) => log.warn({ err, path }, 'a folder of data stays mounted'))
  if (mayHold) for (const path of await leftIn(place)) await release(path)
  return {
    async hold(mounts) {
      if (!mayHold) return { mounts, release: async () => {} }
      const held: Mount[] = []
      const releaseAll = async () => {
        for (const { source } of held) await release(source)
      }
      try {
        for (const mount of mounts) if (mount.below !== null) held.push(await holdOne(mount, place))
        return { mounts: [...mounts.filter(({ below }) => below === null), ...held], release: releaseAll }
      } catch (error) {
        await releaseAll()
        throw error
      }
    },
  }
}

async function holdOne(mount: Mount, place: string): Promise<Mount> {
  const folder = await openChecked(mount)
  try {
    await mkdir(place, { recursive: true, mode: 0o700 })
    const source = await mkdtemp(join(place, `${prefix}${process.pid}-`))
    await bind(folder.fd, source)
    return { ...mount, source }
  } finally {
    await folder.close()
  }
}

async function openChecked({ source }: Mount): Promise<FileHandle> {
  const changed = () => new StartFailed('BAD_SPEC', `data: ${source} was moved or replaced while it was checked`)
  const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const folder = await open(source, flags).catch(() => null)
  if (folder === null) throw changed()
  if ((await readlink(`/proc/self/fd/${folder.fd}`)) === source) return folder
  await folder.close()
  throw changed()
}

/** Private, so that taking the mount away does not take away the mounts below the folder itself. */
async function bind(fd: number, path: string): Promise<void> {
  const options = ['--no-canonicalize', '--rbind', '--make-rprivate']
  const mount = spawn('mount', [...options, '/proc/self/fd/3', path], { stdio: ['ignore', 'ignore', 'pipe', fd] })
  const failed = once(mount, 'error').then(([error]) => String(error))
  const ended = Promise.all([once(mount, 'close'), mount.stderr ? text(mount.stderr) : '']).then(([[code], said]) =>
    code === 0 ? null : said.trim(),
  )
  const problem = await Promise.race([ended, failed])
  if (problem === null) return
  await rmdir(path)
  throw new StartFailed('NODE_TROUBLE', `The folder of data cannot be mounted: ${problem}`)
}

/** Never removes what is in the folder: a directory with a mount on it cannot be removed. */
async function releaseOne(path: string): Promise<void> {
  if (await isMounted(path)) {
    await execute('mount', ['--make-rprivate', path])
    await execute('umount', ['--lazy', path])
  }
  await rmdir(path)
}

const isMounted = async (path: string) =>
  (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').some((line) => line.split(' ')[4] === path)

/** What processes that are over have left. */
async function leftIn(place: string): Promise<string[]> {
  const names = await readdir(place).catch(() => [])
  const left = names.filter(
    (name) => name.startsWith(prefix) && !existsSync(`/proc/${name.slice(prefix.length).split('-')[0]}`),
  )
  return left.map((name) => join(place, name))
}

/** Whether this process has the capability CAP_SYS_ADMIN. */
async function mayMount(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? []
  return (BigInt(`0x${effective}`) & (1n << 21n)) !== 0n
}
