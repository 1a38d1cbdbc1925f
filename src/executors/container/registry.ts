import { lookup } from 'node:dns/promises'
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
