import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A shell script without its comments, as an argument: an upgrade cannot change a script that a shell is reading. */
export const readScript = (directory: string, name: string) =>
  readFileSync(join(directory, name), 'utf8').replaceAll(/^ *#.*\n|^\n/gm, '')

/** The unit of `ulimit -f`, by which scripts limit the output of a run. */
export const fileBlockBytes = 512

/** Runs preLaunch, the ranks and postLaunch. */
export const rankLauncher = readScript(import.meta.dirname, 'launch.sh')
/** Opens stdinPath, stdoutPath and stderrPath. */
export const jobScript = readScript(import.meta.dirname, 'job.sh')
/** Checks stdinPath, stdoutPath and stderrPath. */
export const pathCheck = readScript(import.meta.dirname, 'paths.sh')
/** Shell functions for a background child: `find_reset` and `await`. */
export const childFunctions = readScript(import.meta.dirname, 'children.sh')
