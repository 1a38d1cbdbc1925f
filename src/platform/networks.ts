import { BlockList, isIP } from 'node:net'

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Returns a function that tests whether an address is one of `entries`: addresses, or networks such as 10.0.0.0/8. */
export function createNetworks(entries: readonly string[]): (address: string) => boolean {
  if (entries.length === 0) return () => false
  const networks = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    if (bits === undefined) networks.addAddress(address, familyOf(address))
    else networks.addSubnet(address, Number(bits), familyOf(address))
  }
  return (address) => isIP(address) !== 0 && networks.check(address, familyOf(address))
}
