import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The shells of this machine, and the scripts that Berth gives them. */

const first = (...paths: string[]) => paths.find((path) => existsSync(path)) ?? '/bin/sh'
/** dash starts several times faster than bash. */
export const shell = first('/bin/dash', '/usr/bin/dash')
export const sourcingShell = first('/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash')

/** The text is an argument of the shell, so that an upgrade of Berth cannot change a script that a shell is reading. */
const script = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8').replaceAll(/^ *#.*\n|^\n/gm, '')
export const shim = script('shim.sh')
export const rankLauncher = script('launch.sh')
export const pathCheck = script('paths.sh')
