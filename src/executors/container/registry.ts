import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { BlockList, isIP } from 'node:net'
import { StartFailed } from '../executor.ts'

/**
 * Refuses an image whose registry has a loopback or link-local address, unless `container.registries` names it: a pull
 * could probe ports of this machine or the metadata service of a cloud. This does not protect against DNS names that
 * change after the check, nor against redirects.
 */
export async function refuseOwnMachine(image: string, allowed: readonly string[]): Promise<void> {
  const registry = registryOfImage(image)
  if (registry === null || allowed.includes(registry)) return
  const host = registry.replace(/:\d+$/, '')
  const addresses = isIP(host) ? [host] : await resolve(host)
  if (host !== 'localhost' && !host.endsWith('.localhost') && !addresses.some(isOwn)) return
  throw new StartFailed(
    'START_FAILED',
    `image: ${image} is not on this machine, and its registry ${registry} is an address of the machine itself; the administrator can allow it in container.registries`,
  )
}

const dockerHub = 'docker.io'

/**
 * The credentials for the registry of an image in a `config.json` of Docker, as the engine takes them; null: the file
 * has none for it. Read at each pull, so a changed password needs no restart. Credential helpers are not run.
 */
export async function readRegistryAuth(path: string, image: string): Promise<string | null> {
  const refuse = (why: string, cause?: unknown) =>
    new StartFailed('START_FAILED', `The image ${image} cannot be pulled: container.registryAuth ${path} ${why}`, {
      cause,
    })
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${error.code})`, error)
  })
  const registry = registryOfImage(image) ?? dockerHub
  const found = Object.entries(parseAuths(text, refuse)).find(([server]) => hostOf(server) === registry)
  if (!found) return null
  const [serveraddress, { auth = '', identitytoken }] = found
  const [username = '', password] = Buffer.from(auth, 'base64').toString().split(/:(.*)/s)
  if (password === undefined && !identitytoken) return null
  return Buffer.from(JSON.stringify({ username, password, identitytoken, serveraddress })).toString('base64url')
}

interface StoredAuth {
  auth?: string
  identitytoken?: string
}

function parseAuths(
  text: string,
  refuse: (why: string, cause?: unknown) => Error,
): Readonly<Record<string, StoredAuth>> {
  try {
    return JSON.parse(text).auths ?? {}
  } catch (error) {
    throw refuse('is not JSON', error)
  }
}

/** Docker Hub is `https://index.docker.io/v1/` in the file. */
const hostOf = (server: string) =>
  server
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
    .replace(/^(index|registry-1)\.docker\.io$/, dockerHub)

function registryOfImage(image: string): string | null {
  const [first = '', ...rest] = image.split('/')
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : null
}

const resolve = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address)

/** Addresses of this machine: loopback, link-local and unspecified. */
const own = new BlockList()
own.addSubnet('0.0.0.0', 8)
own.addSubnet('127.0.0.0', 8)
own.addSubnet('169.254.0.0', 16)
own.addSubnet('::', 127, 'ipv6')
own.addSubnet('fe80::', 10, 'ipv6')

const isOwn = (address: string) => own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
