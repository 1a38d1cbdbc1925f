/** The servers of one installation: they share a database, so any of them continues what another began. */
export interface Servers {
  /** The endpoint to ask now. */
  endpoint(): URL
  /** It did not answer: the next one is asked, unless that happened already. */
  failed(endpoint: URL): void
}

/** URLs without /graphql. */
export function createServers(urls: string | readonly string[]): Servers {
  const endpoints = (typeof urls === 'string' ? [urls] : urls).map(
    (url) => new URL('graphql', url.endsWith('/') ? url : `${url}/`),
  )
  let at = 0
  const endpoint = () => {
    const current = endpoints[at]
    if (!current) throw new TypeError('`url` must name at least one server')
    return current
  }
  endpoint()
  return {
    endpoint,
    failed(failing) {
      if (failing === endpoint()) at = (at + 1) % endpoints.length
    },
  }
}
