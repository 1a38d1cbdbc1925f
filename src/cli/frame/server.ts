import type { Cli } from './cli.ts'
import { usageError } from './exit.ts'

/** The server's programs are source in a clone and JavaScript in the package. */
const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js'

/** A package that only the server needs: an optional dependency, absent in an installation of the client alone. */
const serverPackage = 'graphql-yoga'

/** Becomes a server in the foreground. */
export const runServer = (cli: Cli, args: readonly string[], extraEnv: Readonly<Record<string, string>> = {}): void =>
  runServerProgram(cli, 'main', args, extraEnv)

/** Becomes a program of the server's package: no process waits for it and takes memory. */
export function runServerProgram(
  cli: Cli,
  program: 'main' | 'backup/main' | 'check-machine',
  args: readonly string[],
  extraEnv: Readonly<Record<string, string>> = {},
): void {
  const entry = new URL(`../../${program}${extension}`, import.meta.url).pathname
  try {
    import.meta.resolve(serverPackage)
  } catch {
    throw usageError('the packages of the server are not installed', 'run "npm install --include=optional"')
  }
  cli.becomeProgram([entry, ...args], { ...cli.env, ...extraEnv })
}
