interface Platform {
  performance: { getEntriesByName(name: string): readonly object[] }
}

/** true: as far as can be detected, this browser uses HTTP/1.1, which allows six connections to a host. */
export function hasFewConnections({ protocol, href }: URL, platform: Platform = globalThis): boolean {
  if (!('location' in platform)) return false
  if (protocol === 'http:') return true
  const requests = platform.performance.getEntriesByName(href)
  return requests.some((request) => 'nextHopProtocol' in request && request.nextHopProtocol === 'http/1.1')
}
