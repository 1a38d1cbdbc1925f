import { isLoopbackAddress } from './exposure.ts'

/** Addresses of container engines: `unix:///run/docker.sock`, `tcp://gpu3.lab:2376`, `ssh://berth@gpu1.lab:22/run/docker.sock`. */

export interface SshTarget {
  readonly user: string | null
  readonly host: string
  readonly port: string | null
  /** Path of the engine's socket on that machine. */
  readonly socket: string
}

// No name begins with "-", which ssh takes for an option. ssh expands "${NAME}" and "%" in a socket's path.
const sshPattern = /^ssh:\/\/(?:(\w[\w.-]*)@)?([a-z0-9][\w.-]*)(?::(\d{1,5}))?(\/[\w./-]+)?$/i
const socketDefault = '/var/run/docker.sock'

/** Returns null if the address does not have the form ssh://user@host:port/socket. */
export function parseSshAddress(address: string): SshTarget | null {
  const [, user = null, host, port = null, socket = socketDefault] = sshPattern.exec(address) ?? []
  return host === undefined ? null : { user, host, port, socket }
}

export const isTcp = (address: string): boolean => /^tcp:\/\/[^/\s]+$/.test(address) && URL.canParse(address)

export const isEngineAddress = (input: unknown): boolean =>
  typeof input === 'string' && (/^unix:\/\/\/./.test(input) || parseSshAddress(input) !== null || isTcp(input))

/** Whether the address leads to the machine of the server, so that it means another engine on another server. */
export const isEngineHere = (address: string): boolean =>
  address.startsWith('unix:') || (isTcp(address) && isLoopbackAddress(new URL(address).hostname))
