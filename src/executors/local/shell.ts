import { existsSync } from 'node:fs'
import { readScript } from '../process/scripts.ts'

const find = (...paths: string[]) => paths.find((path) => existsSync(path))
const first = (...paths: string[]) => find(...paths) ?? '/bin/sh'
/** dash starts several times faster than bash. */
export const shell = first('/bin/dash', '/usr/bin/dash')
const bash = find('/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash')
/** A shell that starts in POSIX mode and leaves it at once, because otherwise bash reads BASH_ENV before the script. */
export const sourcingShell: readonly string[] = bash ? [bash, '--posix'] : ['/bin/sh']

export const shim = readScript(import.meta.dirname, 'shim.sh')
export const watchdogScript = readScript(import.meta.dirname, 'watchdog.sh')
/** Script that checks the working directory and the launcher of a job. */
export const entryCheck = readScript(import.meta.dirname, 'entry.sh')
export const enterCgroupsScript = readScript(import.meta.dirname, 'enter.sh')
export const workdirScript = `cd -P -- "$1" || {
  printf 'berth: cannot enter the working directory\\n' >&2
  exit 126
}
shift
exec "$@"`

const setsid = find('/usr/bin/setsid', '/bin/setsid')
/** Starts a command in a new session. macOS has perl instead of setsid. */
export const newSession = setsid
  ? [setsid]
  : ['/usr/bin/perl', '-MPOSIX', '-e', 'POSIX::setsid(); exec { $ARGV[0] } @ARGV; exit 127']
