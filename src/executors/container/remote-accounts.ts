import type { Clock } from '../../platform/clock.ts'
import { type Account, type AccountRules, requiresAccount } from '../accounts/account.ts'
import { StartFailed } from '../executor.ts'
import { readFile } from './archive.ts'
import type { Containers } from './containers.ts'
import type { Engine } from './engine.ts'

/**
 * The accounts of another machine: its /etc/passwd and /etc/group, which the engine copies out of a container that is
 * never started and sees /etc. Accounts of a directory service are not in these files.
 */

const folder = '/.berth-etc'
const bytesMax = 2 ** 20
const cachedMs = 10_000

interface AccountFiles {
  passwd: readonly string[][]
  group: readonly string[][]
}

interface RemoteAccountsOptions {
  engine: Engine
  containers: Containers
  rules: AccountRules
  clock: Clock
}

export class RemoteAccounts {
  readonly #options: RemoteAccountsOptions
  #known: { files: AccountFiles; untilMs: number } | null = null

  constructor(options: RemoteAccountsOptions) {
    this.#options = options
  }

  /** The account of a run; null: the user that the image names. Throws StartFailed. */
  async find(unixUser: string | null, imageId: string): Promise<Account | null> {
    if (unixUser === null) {
      if (!requiresAccount({ ...this.#options.rules, isRemote: true })) return null
      throw refused('The user of this job has no unixUser, so the job could run as root; an ADMIN can set one')
    }
    const { passwd, group } = await this.#read(imageId)
    const [name, , uid = '', gid = '', , home = '/', shell = '/bin/sh'] =
      passwd.find(([each]) => each === unixUser) ?? []
    if (name === undefined) throw refused(`The machine has no account ${unixUser} in its /etc/passwd`)
    if (!Number(uid)) throw refused(`Jobs never run as ${unixUser}: its uid is 0`)
    const groups = group.flatMap(([, , id = '', members = '']) => (members.split(',').includes(name) ? [id] : []))
    return {
      name,
      uid: Number(uid),
      gid: Number(gid),
      groups: [...new Set([gid, ...groups])],
      environment: { HOME: home, USER: name, LOGNAME: name, SHELL: shell },
    }
  }

  async #read(imageId: string): Promise<AccountFiles> {
    const { clock } = this.#options
    if (this.#known && clock.monotonicMs() < this.#known.untilMs) return this.#known.files
    const files = await this.#copy(imageId)
    this.#known = { files, untilMs: clock.monotonicMs() + cachedMs }
    return files
  }

  async #copy(imageId: string): Promise<AccountFiles> {
    const { engine, containers } = this.#options
    const mount = { Type: 'bind', Source: '/etc', Target: folder, ReadOnly: true }
    const look = async (container: string) => {
      const read = async (file: string) =>
        ((await readFile(engine, { container, path: `${folder}/${file}`, bytesMax })) ?? '')
          .split('\n')
          .map((line) => line.split(':'))
      return { passwd: await read('passwd'), group: await read('group') }
    }
    return containers.lookInto(imageId, look, { HostConfig: { Mounts: [mount], NetworkMode: 'none' } })
  }
}

const refused = (message: string) => new StartFailed('BAD_SPEC', message)
