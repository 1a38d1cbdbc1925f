import type { Cli } from './cli.ts'
import { usageError } from './exit.ts'

/** Extension of the server's programs: TypeScript in a clone, JavaScript in the package. */
const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js'

/** An optional dependency that only the server needs. It is missing if only the client is installed. */
const serverPackage = 'graphql-yoga'

/** Replaces this process with a server. */
export const runServer = (cli: Cli, args: readonly string[], extraEnv: Readonly<Record<string, string>> = {}): void =>
  runServerProgram(cli, 'main', args, extraEnv)

/** Replaces this process with a program of the server's package, so that no waiting process takes memory. */
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
