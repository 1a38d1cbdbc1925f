import { type SnapshotTarget, StartFailed } from '../executor.ts'
import { readFile } from './archive.ts'
import type { Engine } from './engine.ts'

const bytesMax = 2 ** 20

/** The numbers of a user that the engine reads as `USER:GROUP`, each a name of the image or a number, or ''. */
export async function findOwner(
  engine: Engine,
  container: string,
  user: string,
): Promise<Pick<SnapshotTarget, 'uid' | 'gid'>> {
  const [name = '', group = ''] = user.split(':')
  const find = async (path: string, wanted: string) => {
    const lines = ((await readFile(engine, { container, path, bytesMax })) ?? '').split('\n')
    return lines.map((line) => line.split(':')).find(([each, , id]) => each === wanted || id === wanted) ?? []
  }
  const [, , uid = name || '0', gidOfUser = '0'] = await find('/etc/passwd', name || '0')
  const [, , gid = group] = group === '' ? ['', '', gidOfUser] : await find('/etc/group', group)
  if (isNumber(uid) && isNumber(gid)) return { uid: Number(uid), gid: Number(gid) }
  const files = '/etc/passwd and /etc/group of the image'
  throw new StartFailed('BAD_SPEC', `snapshot: ${files} do not name its user ${user}, who must own the files`)
}

const isNumber = (text: string) => /^\d+$/.test(text)
