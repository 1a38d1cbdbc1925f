import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { StartFailed } from '../executor.ts'
import type { Environment } from './environment.ts'

/** An account of the machine. */
export interface Account {
  name: string
  uid: number
  gid: number
  environment: Environment
}

const run = promisify(execFile)

/**
 * The account that a run belongs to; null: the server's own, for want of another or of the right to change to it. Asked
 * of the system, not of /etc/passwd: accounts may live in a directory service.
 */
export async function accountOf(unixUser: string | null): Promise<Account | null> {
  if (unixUser === null || process.getuid?.() !== 0) return null
  const { stdout } = await run('getent', ['passwd', unixUser]).catch((cause) => {
    throw new StartFailed('BAD_SPEC', `This machine has no account ${unixUser}`, { cause })
  })
  const [name = '', , uid, gid, , home = '/', shell = ''] = stdout.trimEnd().split(':')
  if (!Number(uid)) throw new StartFailed('BAD_SPEC', `Jobs never run as ${unixUser}: its uid is 0`)
  return {
    name,
    uid: Number(uid),
    gid: Number(gid),
    environment: { HOME: home, USER: name, LOGNAME: name, SHELL: shell || '/bin/sh' },
  }
}
