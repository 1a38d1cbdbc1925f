import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reads a shell script without its comments. It is passed as an argument, so an upgrade cannot change a script while a
 * shell reads it.
 */
export const readScript = (directory: string, name: string) =>
  readFileSync(join(directory, name), 'utf8').replaceAll(/^ *#.*\n|^\n/gm, '')

/** Quotes a text as one word of a shell. */
export const quoteWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The unit of `ulimit -f`, which limits the output of a run. */
export const fileBlockBytes = 512

/** Runs preLaunch, the ranks and postLaunch. */
export const rankLauncher = readScript(import.meta.dirname, 'launch.sh')
/** A login shell of the account: the start of a session. */
export const loginShell = ['/bin/sh', '-c', '[ "$SHELL" ] || SHELL=/bin/sh; exec "$SHELL" -l']
/** Sends the signal $1 to all processes that have the variable $0, such as `BERTH_SESSION=…`. */
export const killScript = readScript(import.meta.dirname, 'kill.sh')
/** Variable that marks the processes of a session, for a backend that cannot end a command itself. */
export const sessionVariable = 'BERTH_SESSION'
/** Opens stdinPath, stdoutPath and stderrPath. */
export const jobScript = readScript(import.meta.dirname, 'job.sh')
/** Checks stdinPath, stdoutPath and stderrPath. */
export const pathCheck = readScript(import.meta.dirname, 'paths.sh')
/** Shell functions for a background child: `find_reset` and `await`. */
export const childFunctions = readScript(import.meta.dirname, 'children.sh')
