import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Cli } from './cli.ts'
import { usageError } from './exit.ts'

/** The server's programs are source in a clone and JavaScript in the package. */
const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js'

/** A package that only the server needs: an optional dependency, absent in an installation of the client alone. */
const serverPackage = 'graphql-yoga'

/** Runs a server in the foreground. Ctrl-C reaches both processes: the server drains, and this one waits for it. */
export const runServer = (cli: Cli, args: readonly string[], extraEnv: Readonly<Record<string, string>> = {}) =>
  runServerProgram(cli, 'main', args, extraEnv)

/** Runs a program of the server's package, such as `backup/main`, and exits with its code. */
export async function runServerProgram(
  cli: Cli,
  program: 'main' | 'backup/main',
  args: readonly string[],
  extraEnv: Readonly<Record<string, string>> = {},
) {
  const entry = new URL(`../${program}${extension}`, import.meta.url).pathname
  try {
    import.meta.resolve(serverPackage)
  } catch {
    throw usageError('the packages of the server are not installed', 'run "npm install --include=optional"')
  }
  const child = spawn(process.execPath, [entry, ...args], { stdio: 'inherit', env: { ...cli.env, ...extraEnv } })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', forward)
  process.on('SIGHUP', forward)
  const [code] = (await once(child, 'exit')) as [number | null]
  cli.exitWith(code ?? 1)
}
