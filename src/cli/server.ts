import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Cli } from './cli.ts'
import { usageError } from './exit.ts'

/** The server's entry beside this room: source in a clone, JavaScript in the package. */
const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js'
const entry = new URL(`../main${extension}`, import.meta.url).pathname

/** A package that only the server needs: an optional dependency, absent in an installation of the client alone. */
const serverPackage = 'graphql-yoga'

/** Runs a server in the foreground. Ctrl-C reaches both processes: the server drains, and this one waits for it. */
export async function runServer(cli: Cli, args: readonly string[], extraEnv: Readonly<Record<string, string>> = {}) {
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
