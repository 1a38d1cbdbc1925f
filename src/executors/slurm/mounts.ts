import { readFile, realpath } from 'node:fs/promises'
import { unlessMissing } from '../backend/file-errors.ts'

/** true: a whole file system is mounted at this path; false on systems other than Linux. */
export async function isMountPoint(path: string): Promise<boolean> {
  const real = await realpath(path)
  const mounts = await unlessMissing(readFile('/proc/self/mountinfo', 'utf8'))
  return mounts !== null && isWholeMount(mounts, real)
}

/**
 * true for a file system or a btrfs subvolume, false for a bind mount of a directory. If mounts are stacked, the
 * topmost counts.
 */
export function isWholeMount(mounts: string, path: string): boolean {
  const fields = mounts.split('\n').map((line) => line.split(' ').map(unescaped))
  const mount = fields.findLast(([, , , , place]) => place === path)
  const root = mount?.[3]
  return root === '/' || (root !== undefined && mount?.at(-1)?.split(',').includes(`subvol=${root}`) === true)
}

/** The table of mounts writes a space as \040. */
const unescaped = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
