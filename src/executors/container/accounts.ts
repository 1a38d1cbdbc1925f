import type { Clock } from '../../platform/clock.ts'
import { type Account, type AccountRules, parseAccount, requiresAccount } from '../accounts/account.ts'
import { type SnapshotTarget, StartFailed } from '../executor.ts'
import { readFile } from './archive.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'

const bytesMax = 2 ** 20
const cachedMs = 10_000
/** Where a container sees /etc of its machine. */
const folder = '/.berth-etc'

/** The rows of a file like /etc/passwd in a container; empty: the file does not exist. */
const readRows = async (engine: Engine, container: string, path: string): Promise<string[][]> =>
  ((await readFile(engine, { container, path, bytesMax })) ?? '').split('\n').map((line) => line.split(':'))

interface AccountFiles {
  passwd: readonly string[][]
  group: readonly string[][]
}

interface MachineAccountsOptions {
  engine: Engine
  containers: Containers
  rules: AccountRules
  clock: Clock
}

/**
 * The accounts of another machine: its /etc/passwd and /etc/group, which the engine copies out of a container that is
 * never started and sees /etc. Accounts of a directory service are not in these files.
 */
export class MachineAccounts {
  readonly #options: MachineAccountsOptions
  #known: { files: AccountFiles; untilMs: number } | null = null

  constructor(options: MachineAccountsOptions) {
    this.#options = options
  }

  /** The account of a run; null: the user that the image names. Throws StartFailed. */
  async find(unixUser: string | null, imageId: string): Promise<Account | null> {
    if (unixUser === null) {
      if (!requiresAccount({ ...this.#options.rules, isRemote: true })) return null
      throw refused('The user of this job has no unixUser, so the job could run as root; an ADMIN can set one')
    }
    const { passwd, group } = await this.#read(imageId)
    const entry = passwd.find(([each]) => each === unixUser)
    if (!entry) throw refused(`The machine has no account ${unixUser} in its /etc/passwd`)
    const account = parseAccount(entry)
    const groups = group.flatMap(([, , id = '', members = '']) => (members.split(',').includes(unixUser) ? [id] : []))
    return { ...account, groups: [...new Set([String(account.gid), ...groups])] }
  }

  async #read(imageId: string): Promise<AccountFiles> {
    const { engine, containers, clock } = this.#options
    if (this.#known && clock.monotonicMs() < this.#known.untilMs) return this.#known.files
    const mount = { Type: 'bind', Source: '/etc', Target: folder, ReadOnly: true }
    const readFiles = async (container: string) => ({
      passwd: await readRows(engine, container, `${folder}/passwd`),
      group: await readRows(engine, container, `${folder}/group`),
    })
    const files = await containers.lookInto(imageId, readFiles, {
      HostConfig: { Mounts: [mount], NetworkMode: 'none' },
    })
    this.#known = { files, untilMs: clock.monotonicMs() + cachedMs }
    return files
  }
}

const refused = (message: string) => new StartFailed('BAD_SPEC', message)

/** Resolves `USER:GROUP` of an image to uid and gid; each part is a name in the image, a number, or ''. */
export async function resolveImageUser(
  engine: Engine,
  container: string,
  user: string,
): Promise<Pick<SnapshotTarget, 'uid' | 'gid'>> {
  const [name = '', group = ''] = user.split(':')
  const find = async (path: string, wanted: string) =>
    (await readRows(engine, container, path)).find(([each, , id]) => each === wanted || id === wanted) ?? []
  const [, , uid = name || '0', gidOfUser = '0'] = await find('/etc/passwd', name || '0')
  const [, , gid = group] = group === '' ? ['', '', gidOfUser] : await find('/etc/group', group)
  if (isNumber(uid) && isNumber(gid)) return { uid: Number(uid), gid: Number(gid) }
  const files = '/etc/passwd and /etc/group of the image'
  throw refused(`snapshot: ${files} do not name its user ${user}, who must own the files`)
}

const isNumber = (text: string) => /^\d+$/.test(text)
