export type Servers = ReturnType<typeof createServers>

/** Several servers over one database: any of them can continue a stream. URLs may omit /graphql at the end. */
export function createServers(urls: string | readonly string[]) {
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
    /** Switches to the next server if this one is still the current one. */
    failed(failing: URL) {
      if (failing === endpoint()) at = (at + 1) % endpoints.length
    },
  }
}

function endpointOf(url: string): URL {
  const folder = `${url.trim().replace(/\/(graphql\/?)?$/, '')}/`
  const endpoint = URL.canParse('graphql', folder) ? new URL('graphql', folder) : null
  // HTTP clients refuse credentials in URLs, and error messages would show them.
  if (endpoint?.username || endpoint?.password)
    throw new TypeError('The URL of a server must not contain a user or password; pass a token instead')
  if (endpoint && /^https?:$/.test(endpoint.protocol)) return endpoint
  throw new TypeError(`"${url}" is not the URL of a server, such as http://127.0.0.1:4000`)
}
