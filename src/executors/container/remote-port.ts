import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Duplex } from 'node:stream'
import { SessionRefused } from '../executor.ts'
import { explainSsh, loginArguments, type SshHost, sshEnvironment } from './tunnel.ts'

const openMsMax = 10_000

/**
 * Connects to an address on another machine through an ssh process. Only the debug messages of ssh show that the
 * connection is established. Throws SessionRefused.
 */
export async function openRemotePort(
  to: SshHost,
  { address, port, environment }: { address: string; port: number; environment: NodeJS.ProcessEnv },
): Promise<Duplex> {
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`
  const args = ['-vv', ...loginArguments(to), '-W', target, '--', to.host]
  const child = spawn('ssh', args, { env: sshEnvironment(environment), cwd: '/', detached: true })
  for (const each of [child, child.stdin, child.stdout, child.stderr]) each.on('error', () => undefined)
  if (child.pid === undefined) throw new SessionRefused('The server cannot start ssh; install openssh-client')
  const connection = Duplex.from({ readable: child.stdout, writable: child.stdin })
  // The connection may break before a session reads from it.
  connection.on('error', () => undefined).once('close', () => child.kill('SIGKILL'))
  const late = setTimeout(() => child.kill('SIGKILL'), openMsMax)
  try {
    await waitUntilOpen(child, to, port)
  } catch (error) {
    connection.destroy()
    throw error
  } finally {
    clearTimeout(late)
  }
  return connection
}

async function waitUntilOpen({ stderr }: ChildProcessWithoutNullStreams, to: SshHost, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = 'no answer'
  // Reads the messages to the end, because ssh would block otherwise.
  createInterface({ input: stderr })
    .on('line', (line) => {
      if (/^debug2: channel \d+: open confirm/.test(line)) resolve()
      else if (/open failed: administratively prohibited/.test(line))
        reject(
          new SessionRefused(`sshd of ${to.host} forbids the connection; allow AllowTcpForwarding in its sshd_config`),
        )
      else if (/open failed/.test(line)) reject(new SessionRefused(refusesConnections(port)))
      else if (!/^debug\d: |^Warning|^\W*$/.test(line)) said = line
    })
    .once('close', () => reject(new SessionRefused(explainSsh(said, to))))
  await promise
}

export const refusesConnections = (port: number): string =>
  `Port ${port} of the container refuses connections; does the job listen on all addresses?`
