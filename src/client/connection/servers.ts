/** The servers of one installation: they share a database, so any of them continues what another began. */
export interface Servers {
  /** The endpoint to ask now. */
  endpoint(): URL
  /** It did not answer: the next one is asked, unless that happened already. */
  failed(endpoint: URL): void
}

/** URLs with or without /graphql at their end. */
export function createServers(urls: string | readonly string[]): Servers {
  const endpoints = (typeof urls === 'string' ? [urls] : urls).map(endpointOf)
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

function endpointOf(url: string): URL {
  const folder = `${url.trim().replace(/\/(graphql\/?)?$/, '')}/`
  const endpoint = URL.canParse('graphql', folder) ? new URL('graphql', folder) : null
  // No client of HTTP takes them, and a message would show them.
  if (endpoint?.username || endpoint?.password)
    throw new TypeError('The URL of a server must not have a user or password; a token says who you are')
  if (endpoint && /^https?:$/.test(endpoint.protocol)) return endpoint
  throw new TypeError(`"${url}" is not the URL of a server, such as http://127.0.0.1:4000`)
}
