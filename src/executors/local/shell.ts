import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The shells of this machine, the scripts that Berth gives them, and what shells cannot do. */

const find = (...paths: string[]) => paths.find((path) => existsSync(path))
const first = (...paths: string[]) => find(...paths) ?? '/bin/sh'
/** dash starts several times faster than bash. */
export const shell = first('/bin/dash', '/usr/bin/dash')
export const sourcingShell = first('/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash')

/** The text is an argument of the shell, so that an upgrade of Berth cannot change a script that a shell is reading. */
const script = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8').replaceAll(/^ *#.*\n|^\n/gm, '')
export const shim = script('shim.sh')
export const rankLauncher = script('launch.sh')
export const jobScript = script('job.sh')
export const heirScript = script('heir.sh')
export const pathCheck = script('paths.sh')

export const setpriv = find('/usr/bin/setpriv', '/bin/setpriv') ?? 'setpriv'
const setsid = find('/usr/bin/setsid', '/bin/setsid')
/** Makes a session; macOS has no setsid, but perl. */
export const newSession = setsid
  ? [setsid]
  : ['/usr/bin/perl', '-MPOSIX', '-e', 'POSIX::setsid(); exec { $ARGV[0] } @ARGV; exit 127']
