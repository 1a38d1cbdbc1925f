import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'

/**
 * An ssh process that forwards a local Unix socket to the engine of another machine. It uses the ssh configuration,
 * keys and known hosts of the server's account, never prompts, and is restarted when it ends.
 */

export interface SshHost {
  /** null: the user of the ssh configuration. */
  user: string | null
  host: string
  port: string | null
  /** Path of the engine's socket on that machine. */
  socket: string
}

const options = [
  'BatchMode=yes',
  'ConnectTimeout=10',
  'ControlMaster=no',
  'ControlPath=none',
  'ExitOnForwardFailure=yes',
  'ServerAliveCountMax=3',
  'ServerAliveInterval=5',
  'StreamLocalBindMask=0177',
  'StreamLocalBindUnlink=yes',
]

const neededVariables = /^(PATH|HOME|USER|LOGNAME|LANG|LC_\w+|SSH_AUTH_SOCK|KRB5CCNAME)$/

/**
 * The variables that ssh needs. Others could be sent to the machine by the ssh configuration, and may be secrets of the
 * server.
 */
export const sshEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => neededVariables.test(name)))

export const sshArguments = (to: SshHost, local: string): string[] => [
  '-N',
  ...loginArguments(to),
  ...['-L', `${local}:${to.socket}`, '--', to.host],
]

export const loginArguments = ({ user, port }: SshHost): string[] => [
  '-T',
  ...options.flatMap((option) => ['-o', option]),
  ...(user === null ? [] : ['-l', user]),
  ...(port === null ? [] : ['-p', port]),
]

/**
 * Ends ssh and removes the folder of the socket ($1) when its standard input closes, so also when the server is killed.
 */
const supervise = `folder=$1; shift; exec 3<&0
"$@" </dev/null 3<&- & ssh=$!
{ cat <&3 >/dev/null; kill "$ssh"; rm -rf -- "$folder"; } 2>/dev/null & watcher=$!
exec 3<&-
wait "$ssh"; code=$?
kill "$watcher" 2>/dev/null
exit "$code"`

/** Maximum wait for the first connection. */
const firstMsMax = 5_000
const pollMs = 50
const pauseMsMin = 500
const pauseMsMax = 10_000
/** A connection that lasted this long counts as successful and is restored at once. */
const goodMs = 30_000

interface TunnelOptions {
  to: SshHost
  environment: NodeJS.ProcessEnv
  clock: Clock
  log: Log
}

export class Tunnel {
  readonly socketPath: string
  readonly #folder: string
  readonly #options: TunnelOptions
  readonly #closing = new AbortController()
  readonly #done: Promise<void>
  #child: ChildProcess | null = null
  /** The last lines that ssh printed. */
  #said = ''
  #failures = 0

  private constructor(folder: string, options: TunnelOptions) {
    this.socketPath = join(folder, 'engine.sock')
    this.#folder = folder
    this.#options = options
    this.#done = this.#run()
  }

  static async open(options: TunnelOptions, waitMs = firstMsMax): Promise<Tunnel> {
    // The path of a Unix socket has at most 107 bytes, and the path of the data directory may be longer.
    const tunnel = new Tunnel(await mkdtemp(join(tmpdir(), 'berth-ssh-')), options)
    await tunnel.#tryOnce(waitMs)
    return tunnel
  }

  /** Waits until the tunnel is open, or ssh has failed once. */
  async #tryOnce(waitMs: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < waitMs && this.#failures === 0; waitedMs += pollMs) {
      if (existsSync(this.socketPath)) return
      await this.#options.clock.sleep(pollMs)
    }
  }

  /** Why the engine does not respond, and the fix; null: ssh has printed nothing. */
  explain(): string | null {
    if (this.#said !== '') return explainSsh(this.#said, this.#options.to)
    return existsSync(this.socketPath) ? null : `ssh to ${this.#options.to.host} is still connecting`
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#child?.stdin?.end()
    await this.#done
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #run(): Promise<void> {
    const { clock, log, to } = this.#options
    const { signal } = this.#closing
    for (let pauseMs = pauseMsMin; !signal.aborted; ) {
      const beganMs = clock.monotonicMs()
      await this.#connect()
      if (signal.aborted) return
      this.#failures++
      log.warn({ host: to.host, because: this.#said }, 'the connection to a machine ended; connecting again')
      pauseMs = clock.monotonicMs() - beganMs > goodMs ? pauseMsMin : Math.min(2 * pauseMs, pauseMsMax)
      await clock.sleep(pauseMs, signal)
    }
  }

  /** Resolves when ssh has ended. */
  async #connect(): Promise<void> {
    const { environment, to } = this.#options
    const ssh = ['ssh', ...sshArguments(to, this.socketPath)]
    // In its own process group, ssh survives Ctrl-C until the server has ended.
    const child = spawn('/bin/sh', ['-c', supervise, 'berth', this.#folder, ...ssh], {
      env: sshEnvironment(environment),
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    this.#child = child
    let said = ''
    createInterface({ input: child.stderr }).on('line', (line) => {
      // The warning about a changed host key has many lines, of which the last one is not helpful.
      if (/HOST IDENTIFICATION HAS CHANGED/.test(said) || /^Warning|^\W*$/.test(line)) return
      said = line
      this.#said = said
    })
    const ended = once(child, 'close').catch((error: unknown) => {
      this.#said = String(error)
    })
    if (this.#closing.signal.aborted) child.stdin.end()
    await ended
    child.stdin.destroy()
    this.#child = null
  }
}

/** Converts the last lines of ssh into the cause and the fix. */
export function explainSsh(said: string, { user, host, socket }: SshHost): string {
  const login = `${user === null ? '' : `${user}@`}${host}`
  const [, remedy] = remedies.find(([pattern]) => pattern.test(said)) ?? []
  return remedy?.({ login, host, user: user ?? 'the user', socket }) ?? `ssh to ${host}: ${said}`
}

type Remedy = (words: { login: string; host: string; user: string; socket: string }) => string

const remedies: readonly (readonly [RegExp, Remedy])[] = [
  [
    /HOST IDENTIFICATION HAS CHANGED/,
    ({ login, host }) =>
      `the host key of ${host} has changed; if that is right, run "ssh-keygen -R ${host}" and "ssh ${login}" once as the account of the server`,
  ],
  [
    /Host key verification failed/,
    ({ login, host }) => `the host key of ${host} is not known; run "ssh ${login}" once as the account of the server`,
  ],
  [
    /Permission denied \(/,
    ({ login, host }) =>
      `${host} accepts no key of the server; run "ssh-copy-id ${login}" as the account of the server, with a key without a passphrase`,
  ],
  [
    /open failed: administratively prohibited/,
    ({ host }) => `sshd of ${host} forbids the tunnel; allow AllowStreamLocalForwarding in its sshd_config`,
  ],
  [
    /open failed/,
    ({ host, user, socket }) =>
      `no connection to ${socket} on ${host}; start the engine there, or let ${user} use the socket ("usermod -aG docker ${user}")`,
  ],
  [/(exec: )?ssh: (command )?not found/, () => 'the server has no program ssh; install openssh-client'],
]
